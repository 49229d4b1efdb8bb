"""What results depend on, as plain data: settings as they come out, rules as they read, files as they lie."""

from __future__ import annotations

import hashlib
import json
import pathlib
import sys
from typing import Any, Dict, List, Optional

from ugatit.ablation.spec import run_file
from ugatit.data.names import printable
from ugatit.errors import UserError
from ugatit.nn.presets import load_variants, variants_mapping
from ugatit.nn.rules import SETTINGS

_DIGITS = 8  # of a short digest: enough for the handful of runs that share a folder


def settings(base: pathlib.Path, root: pathlib.Path) -> Dict[str, Any]:
    """Every setting of a config of train.py: what it takes from its imports (configs/default.py) is in there too.

    Args:
        base: the file.
        root: the folder that its imports start from, as train.py's do.

    Raises:
        UserError: no config of train.py.
    """
    sys.path.insert(0, str(root))
    try:
        return run_file(base)['get_config']().to_dict()
    except UserError:
        raise
    except Exception as error:  # a config is code: it may raise anything
        raise UserError(f'{printable(base)} must be a config of train.py with a function get_config, but it fails'
                        f' ({type(error).__name__}: {error}); correct it.') from None  # fmt: skip
    finally:
        sys.path.remove(str(root))


def rules(variants: str) -> Any:
    """The rules that a preset or a file means now; whatever cannot be read stays a name, and the run itself says so."""
    try:
        found = variants_mapping(load_variants(variants))
    except UserError:
        return variants
    return {setting: found[setting] for setting in SETTINGS}


def files(folder: Optional[pathlib.Path]) -> List[Any]:
    """The folder, and (name, bytes, time of change) of all that lies below it, sorted."""
    if folder is None:
        return []
    found = []
    for path in folder.rglob('*'):
        if path.is_file():
            stat = path.stat()
            found.append([str(path.relative_to(folder)), stat.st_size, stat.st_mtime_ns])
    return [str(folder.absolute()), sorted(found)]


def digest(content: Any) -> str:
    """Equal for equal content; hexadecimal."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def short_digest(content: Any) -> str:
    """For the name of a folder."""
    return digest(content)[:_DIGITS]
