"""`python -m ugatit.checkpoints PATH`: the entry point alone; the command is ugatit.cli.commands.checkpoints."""

from __future__ import annotations

import sys
from typing import List, Optional

from ugatit.cli.commands.checkpoints import COMMAND
from ugatit.cli.main import run


def main(arguments: Optional[List[str]] = None) -> int:
    """Returns the exit code: 0 done, 2 bad usage or nothing usable, 3 `--check_finite` found NaN or infinity."""
    return run(COMMAND.main, COMMAND.flags, arguments)


if __name__ == '__main__':
    sys.exit(main())
