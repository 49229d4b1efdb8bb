"""What C++ code prints by itself, held back: it writes to the file descriptor, not to `sys.stderr`."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from typing import Iterator


@contextlib.contextmanager
def silent_stderr(replay: bool) -> Iterator[None]:
    """Holds back stderr inside. replay: prints it after all where an error is raised, for want of a better message."""
    sys.stderr.flush()
    with tempfile.TemporaryFile() as held:
        stderr = os.dup(2)
        os.dup2(held.fileno(), 2)
        try:
            yield
        except BaseException:
            if replay:
                held.seek(0)
                os.write(stderr, held.read())
            raise
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
