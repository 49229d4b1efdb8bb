"""Variants by name, from a file, or given as rules. A preset is a Python file that reads as a document:

    \"\"\"One sentence: what it changes, and whether the network's function is kept.\"\"\"

    norm = [(r'generator_[AB]/layer_ins_norm_[01]', 'instance'), ('.*', 'default')]

It may assign `norm`, `statistics` and `guard` (ugatit.nn.rules); what it leaves out stays as it is by default.
"""

from __future__ import annotations

import inspect
import os
import pathlib
import traceback
from typing import Any, Dict, List, Mapping, Sequence, Tuple, Union

from ugatit.errors import UserError
from ugatit.nn.rules import SETTINGS, Rule, Variants

_PACKAGE = pathlib.Path(__file__).resolve().parent.parent
# In a checkout the presets lie beside the package; a wheel has them inside (`_presets` is a link to the same folder).
_FOLDERS = (_PACKAGE.parent / 'configs' / 'variants', _PACKAGE / '_presets')

Chosen = Union[str, 'os.PathLike[str]', Mapping[str, Any], Variants]


def load_variants(chosen: Chosen) -> Variants:
    """The Variants that `chosen` means.

    Args:
        chosen: a preset's name, the path of a Python file, a mapping with any of `name`, `summary`, `norm`,
            `statistics` and `guard` (lists of (regex, variant) pairs, as `variants_mapping` gives), or Variants.

    Raises:
        UserError: in one sentence, for anything else, and for a file that does not run.
    """
    if isinstance(chosen, Variants):
        return chosen
    if isinstance(chosen, Mapping):
        return _from_mapping(str(chosen.get('name', 'given')), str(chosen.get('summary', '')), chosen)
    if not isinstance(chosen, (str, os.PathLike)):
        raise UserError(f'variants must be a preset, a file or rules, but {chosen!r} arrived; presets are {_names()}.')
    text = os.fspath(chosen)
    if text in preset_names():
        return _from_file(_folder() / f'{text}.py')
    if text.endswith('.py') or os.sep in text or '/' in text:
        return _from_file(pathlib.Path(text))
    raise UserError(
        f'There is no preset of variants {text!r}; choose one of {_names()}, or give the path of a .py file.'
    )


def preset_names() -> List[str]:
    """Every preset, sorted, `default` first."""
    names = sorted(path.stem for path in _folder().glob('*.py') if not path.stem.startswith('_'))
    return sorted(names, key=lambda name: name != 'default')


def variants_mapping(variants: Variants) -> Dict[str, Any]:
    """What `load_variants` reads back: plain lists and strings, for the JSON beside a checkpoint."""
    rules = {setting: [list(rule) for rule in getattr(variants, setting)] for setting in SETTINGS}
    return {'name': variants.name, 'summary': variants.summary, **rules}


def _folder() -> pathlib.Path:
    for folder in _FOLDERS:
        if folder.is_dir():
            return folder
    raise UserError(
        f'The presets of variants should be in {_FOLDERS[0]}, but that folder is missing; install ugatit again.'
    )


def _names() -> str:
    return ', '.join(preset_names())


def _from_file(path: pathlib.Path) -> Variants:
    values = _run(path)
    summary = ' '.join(inspect.cleandoc(values.pop('__doc__', None) or '').split())
    public = {name: value for name, value in values.items() if not name.startswith('_') and not inspect.ismodule(value)}
    return _from_mapping(path.stem, summary, public)


def _run(path: pathlib.Path) -> Dict[str, Any]:
    values: Dict[str, Any] = {'__name__': 'variants', '__file__': str(path)}
    try:
        source = path.read_text('utf-8')
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f'Variants should be read from {path}, but that failed ({error}); presets are {_names()}.'
        ) from None
    try:
        exec(compile(source, str(path), 'exec'), values)  # a preset is code, like every config
    except (Exception, SystemExit) as error:  # whatever the user's file does wrong is one sentence
        line = getattr(error, 'lineno', None) or traceback.extract_tb(error.__traceback__)[-1].lineno
        reason = f'{type(error).__name__}: {getattr(error, "msg", error)}'
        raise UserError(
            f'The variants in {path} must be valid Python, but line {line} fails ({reason}); correct it.'
        ) from None
    return values


def _from_mapping(name: str, summary: str, values: Mapping[str, Any]) -> Variants:
    unknown = sorted(set(values) - set(SETTINGS) - {'name', 'summary'})
    if unknown:
        raise UserError(
            f"Variants '{name}': legal settings are {', '.join(SETTINGS)}, but {', '.join(unknown)} arrived; rename"
            ' it, or begin a name of your own with an underscore.'
        )
    rules = {setting: _rules(name, setting, values[setting]) for setting in SETTINGS if setting in values}
    return Variants(name, summary=summary, **rules)


def _rules(name: str, setting: str, given: Any) -> Tuple[Rule, ...]:
    fits = isinstance(given, Sequence) and not isinstance(given, str) and len(given) > 0
    if not fits or not all(_is_rule(rule) for rule in given):
        raise UserError(
            f"Variants '{name}': {setting} must be a list of (regular expression, variant) pairs of strings, but"
            f" {given!r} arrived; write for example {setting} = [('.*', '{next(iter(SETTINGS[setting]))}')]."
        )
    return tuple((pattern, variant) for pattern, variant in given)


def _is_rule(rule: Any) -> bool:
    return isinstance(rule, (tuple, list)) and len(rule) == 2 and all(isinstance(part, str) for part in rule)
