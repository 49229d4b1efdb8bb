"""A folder of many files that is there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import uuid
from typing import Iterator

from ugatit.errors import UserError


@contextlib.contextmanager
def whole_folder(output: pathlib.Path) -> Iterator[pathlib.Path]:
    """Gives a hidden folder to write into; it becomes `output` at the end, or vanishes on any error.

    Args:
        output: new, or there and empty.

    Raises:
        UserError: the system refuses, for example because the disk is full.
    """
    there = output.is_dir()  # then inside it: the folder around may be closed to us
    hidden = (output if there else output.parent) / f'.ugatit-{uuid.uuid4().hex}.part'
    try:
        hidden.mkdir(parents=True)
        yield hidden
        if there:
            for path in sorted(hidden.iterdir()):
                os.replace(path, output / path.name)
        else:
            os.replace(hidden, output)
    except OSError as error:
        raise UserError(f'{output} could not be written ({error.strerror or error}), and nothing is left of it; check'
                        ' the folder, its permissions and the free space.') from error  # fmt: skip
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
