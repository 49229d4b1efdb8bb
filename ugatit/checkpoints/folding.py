"""The drop-in cure: a checkpoint with a range plan folded in, under the official names and shapes.

Unmodified official code reads it and computes the same picture with values that fit float16. Our own runtime also finds
the exponents (`ugatit/folded/NETWORK/GROUP`), so it keeps epsilons and CAM logits exact as well.
"""

from __future__ import annotations

from typing import Dict, Iterator, List, Mapping, Optional

import tensorflow as tf

from ugatit.checkpoints import naming
from ugatit.checkpoints.architecture import architecture_of, architecture_state
from ugatit.checkpoints.location import Location, PathLike
from ugatit.checkpoints.reader import CheckpointReader
from ugatit.checkpoints.slimming import check_free, read_finite
from ugatit.checkpoints.writer import save_pieces
from ugatit.errors import UserError
from ugatit.nn.architecture import GENERATORS
from ugatit.nn.blueprint import blueprint
from ugatit.nn.build import Registry
from ugatit.numerics import scale_by_pow2
from ugatit.ranges import RangePlan, check_permission, shifts

FOLDED = naming.PROJECT_STATE + 'folded/'
LARGEST_STORED = 200  # |exponent| that a checkpoint may claim; float32 itself has 2**-149 to 2**127
LARGEST_TOTAL = 60  # |exponent| after folding: squares reach twice that, and float32 ends at 2**127

Exponents = Mapping[str, Mapping[str, int]]  # network -> group -> exponent


def folded_exponents(reader: CheckpointReader, scope: str) -> Dict[str, int]:
    """Group -> exponent of what was folded into this network before; empty for an ordinary checkpoint."""
    prefix = f'{FOLDED}{scope}/'
    return {
        name[len(prefix) :]: reader.read_whole_number(name, -LARGEST_STORED, LARGEST_STORED)
        for name in reader.variables()
        if name.startswith(prefix)
    }


def fold_ranges(checkpoint: PathLike, plan: RangePlan, output: PathLike, image_size: Optional[int] = None) -> Location:
    """Writes a generators-only checkpoint into the folder `output` with `plan` multiplied into the weights.

    Both generators go along; those that the plan does not name are copied bit for bit. Discriminators stay behind
    (spectral norm would divide a scale out again), and so do Adam slots (they belong to the unscaled weights).
    `image_size` is that of a light model where the checkpoint does not tell; it is stored with the copy.

    Raises:
      UserError: the checkpoint holds no generator of the plan, the plan does not fit it, or `output` is taken.
    """
    return fold_exponents(checkpoint, {network: plan.nonzero(network) for network in plan}, output, image_size)


def fold_exponents(
    checkpoint: PathLike, exponents: Exponents, output: PathLike, image_size: Optional[int] = None
) -> Location:
    """`fold_ranges` for any whole exponents, negative ones too: those make values larger (`diagnose.py stress`)."""
    reader = CheckpointReader(checkpoint)
    scopes = [scope for scope in GENERATORS if scope in generators_in(reader)]
    wanted = [network for network in exponents if network in GENERATORS and exponents[network]]
    absent = [network for network in wanted if network not in scopes]
    if absent or not scopes:
        raise UserError(f'the plan scales {" and ".join(absent) or "a generator"}, which {reader.location.prefix} does'
                        f' not hold; it holds {", ".join(scopes) or "no generator"}.')  # fmt: skip
    resolved = architecture_of(reader, scopes, overrides={'image_size': image_size})
    model, step = naming.model_name(resolved.architecture.light), reader.location.step or 0
    check_free(output, f'{model}.model-{step}')
    registries = {scope: blueprint(resolved.architecture, scope) for scope in scopes}
    for scope in wanted:
        check_permission(registries[scope], exponents[scope])
        _check_total(scope, _total(reader, scope, exponents[scope]))
    metadata = {
        **(reader.sidecar() or {}),
        'architecture': resolved.architecture,
        'architecture_sources': resolved.sources,
        'folded_from': reader.location.name,
        'folded': {scope: dict(exponents.get(scope, {})) for scope in scopes},
    }
    needed = sum(reader.variables()[name].bytes for name in reader.groups()['generators'])
    pieces = _pieces(reader, registries, exponents, architecture_state(resolved.architecture))
    return save_pieces(output, model, step, pieces, metadata, bytes_needed=needed)


def generators_in(reader: CheckpointReader) -> List[str]:
    """The generators that a checkpoint holds, sorted by name."""
    return sorted({naming.scope_of(name) for name in reader.groups()['generators']})


def _pieces(
    reader: CheckpointReader, registries: Mapping[str, Registry], exponents: Exponents, state: Mapping[str, tf.Tensor]
) -> Iterator[Dict[str, tf.Tensor]]:
    """One generator at a time, with its exponents; earlier folding counts."""
    for number, (scope, registry) in enumerate(registries.items()):
        added = exponents.get(scope, {})
        powers = shifts(registry, added)
        piece = {name: _scaled(read_finite(reader, name), powers.get(name, 0)) for name in registry.variables}
        total = _total(reader, scope, added)
        piece.update({f'{FOLDED}{scope}/{group}': tf.constant(e, tf.int32) for group, e in total.items() if e})
        yield {**piece, **(state if number == 0 else {})}


def _total(reader: CheckpointReader, scope: str, added: Mapping[str, int]) -> Dict[str, int]:
    before = folded_exponents(reader, scope)
    return {group: before.get(group, 0) + added.get(group, 0) for group in {**before, **added}}


def _check_total(scope: str, total: Mapping[str, int]) -> None:
    beyond = [f'{group} {e}' for group, e in total.items() if abs(e) > LARGEST_TOTAL]
    if beyond:
        raise UserError(f'the exponents of {scope}, those folded in before included, must stay within'
                        f' {-LARGEST_TOTAL}..{LARGEST_TOTAL} for float32 to hold the values, but {", ".join(beyond)}'
                        ' would not; choose smaller ones, or start from the original checkpoint.')  # fmt: skip


def _scaled(value: tf.Tensor, shift: int) -> tf.Tensor:
    return scale_by_pow2(value, shift) if shift else value
