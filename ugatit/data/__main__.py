"""`python -m ugatit.data`: the entry point alone; the command is ugatit.cli.commands.avatars."""

from __future__ import annotations

import sys
from typing import List, Optional

from ugatit.cli.commands.avatars import COMMAND
from ugatit.cli.main import run


def main(arguments: Optional[List[str]] = None) -> int:
    """Returns the exit code: 0 done, 2 bad usage or nothing usable."""
    return run(COMMAND.main, COMMAND.flags, arguments, needs_tensorflow=COMMAND.needs_tensorflow)


if __name__ == '__main__':
    sys.exit(main())
