"""One row of an ablation: what is loaded, and in which arithmetic. Read from a file in configs/ablation.

variants = [
    dict(name='float32', changes='nothing: the reference'),
    dict(name='planned', changes='...', precision='mixed_float16', overflow='saturate', ranges='auto'),
]
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
from typing import Any, Dict, List, Tuple

from ugatit.data.files import PathLike
from ugatit.data.names import printable
from ugatit.errors import UserError
from ugatit.nn.policy import make_policy
from ugatit.nn.presets import load_variants
from ugatit.nn.rules import Variants, split_variant

RANGES = {
    'none': 'no plan',
    'auto': "a plan made from the calibration pictures; with squares where the variant's norms square in float16",
    'floor': 'no plan and an unlimited exponent: what 11 significant bits cost when range is no problem',
    'drop_in': 'the plan folded into a checkpoint, read by code that knows nothing of exponents (epsilon 1e-5)',
}


@dataclasses.dataclass(frozen=True)
class Variant:
    """One way to run the checkpoint; a frozen value."""

    name: str  # of the row and of its folder
    changes: str  # one sentence: what it changes
    precision: str = 'float32'
    overflow: str = 'ieee'
    ranges: str = 'none'  # a key of RANGES
    variants: str = 'default'  # a preset under configs/variants, or a .py file

    def __post_init__(self) -> None:
        if not re.fullmatch(r'[a-z0-9][a-z0-9_.-]*', self.name):
            raise UserError(f'The name of a variant must be small letters, digits, _, - and ., but {self.name!r}'
                            ' arrived; it becomes the name of a folder.')  # fmt: skip
        if not self.changes.strip():
            raise UserError(f"Variant {self.name!r} needs one sentence in 'changes': what it changes.")
        if self.ranges not in RANGES:
            raise UserError(f'Variant {self.name!r}: ranges must be one of {", ".join(RANGES)}, but {self.ranges!r}'
                            ' arrived; choose one of these.')  # fmt: skip
        policy = make_policy(self.precision, self.overflow)
        if load_variants(self.variants).name != 'default' and self.ranges == 'drop_in':
            raise UserError(f"Variant {self.name!r}: ranges='drop_in' is read by code that knows the official network"
                            ' only; leave variants out.')  # fmt: skip
        if self.ranges == 'floor' and not policy.has_float16:
            raise UserError(f"Variant {self.name!r}: ranges='floor' needs a precision with float16, but"
                            f' {self.precision} arrived.')  # fmt: skip

    @property
    def planned(self) -> bool:
        """Whether range exponents are in force."""
        return self.ranges in ('auto', 'drop_in')

    @property
    def reference(self) -> bool:
        """Whether this is the network itself in float32, which everything is compared with."""
        return self == dataclasses.replace(Variant('float32', 'x'), name=self.name, changes=self.changes)

    def keeps_function(self) -> bool:
        """Whether the network computes the same function, rounding apart."""
        return keeps_function(load_variants(self.variants))


def keeps_function(variants: Variants) -> bool:
    """True where every norm is the paper's and no guard does more than to allow or refuse exponents."""
    guards = {split_variant(variant)[0] for _, variant in variants.guard}
    return all(variant == 'default' for _, variant in variants.norm) and guards <= {'planned', 'plain'}


def read_variants(path: PathLike) -> Tuple[Variant, ...]:
    """The list of a file.

    Raises:
        UserError: no such file, no list, an unknown key, two of one name, or no reference among them.
    """
    found = run_config(path, 'variants')
    variants = tuple(_variant(path, entry) for entry in found)
    require_unique(path, [variant.name for variant in variants])
    if not any(variant.reference for variant in variants):
        raise UserError(f'{printable(path)} needs the reference that all others are compared with, but no entry is'
                        " float32 with everything else as by default; add dict(name='float32', changes='nothing')."
                        )  # fmt: skip
    return tuple(sorted(variants, key=lambda variant: not variant.reference))


def run_config(path: PathLike, name: str) -> List[Any]:
    """The list that a config file assigns to `name`; it is code, like every config."""
    values = run_file(path)
    found = values.get(name)
    if not isinstance(found, (list, tuple)) or not found:
        raise UserError(f'{printable(path)} must assign a list to {name}, but {found!r} arrived; see'
                        ' configs/ablation/default.py.')  # fmt: skip
    return list(found)


def run_file(path: PathLike) -> Dict[str, Any]:
    """Everything that a config file assigns."""
    values: Dict[str, Any] = {'__name__': 'ablation', '__file__': str(path)}
    try:
        source = pathlib.Path(path).read_text('utf-8')
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f'--config must be a Python file with a list of variants, but {printable(path)} cannot be read'
                        f' ({error}); those that come with us are in configs/ablation.') from None  # fmt: skip
    try:
        exec(compile(source, str(path), 'exec'), values)
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        raise UserError(f'--config={printable(path)} must be valid Python, but it fails ({type(error).__name__}:'
                        f' {error}); correct it.') from None  # fmt: skip
    return values


def require_unique(path: PathLike, names: List[str]) -> None:
    """UserError where a name comes twice: it is the row's folder."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UserError(f'{printable(path)} has {", ".join(twice)} more than once; every row needs a name of its own.')


def _variant(path: PathLike, entry: Any) -> Variant:
    legal = [field.name for field in dataclasses.fields(Variant)]
    if not isinstance(entry, dict) or not {'name', 'changes'} <= set(entry) <= set(legal):
        raise UserError(f'{printable(path)}: a variant is a dict with name, changes and perhaps'
                        f' {", ".join(legal[2:])}, but {entry!r} arrived; correct it.')  # fmt: skip
    return Variant(**entry)
