"""A generator-only checkpoint for inference: about 1.1 GB of the 8 GB of a full model's training state."""

from __future__ import annotations

import pathlib
from typing import Collection, Dict, Iterator, List, Sequence

import tensorflow as tf

from ugatit.checkpoints import naming
from ugatit.checkpoints.architecture import architecture_of, architecture_state
from ugatit.checkpoints.location import Location, PathLike
from ugatit.checkpoints.reader import CheckpointReader
from ugatit.checkpoints.writer import is_finite, save_pieces
from ugatit.errors import UserError
from ugatit.nn.architecture import DISCRIMINATORS, GENERATOR_OF_DIRECTION, GENERATORS


def slim(source: PathLike, output: PathLike, directions: Sequence[str] = ('a2b', 'b2a')) -> Location:
    """Copies one or both generators of `source` into the folder `output`, bit for bit, under the same names.

    Only one generator is in memory at a time, so both directions give one data file each. Project state goes along,
    unless it is another network's, and so does what the JSON says; discriminators and optimiser state stay behind.

    Args:
      source: see `locate`.
      output: the folder; it must not hold a checkpoint of that model and number.
      directions: `a2b` (generator_B) and/or `b2a` (generator_A).

    Raises:
      UserError: no such direction, a generator that is not in `source`, or a checkpoint that is in the way.
    """
    reader = CheckpointReader(source)
    if not directions:
        raise UserError(f'at least one direction of {", ".join(GENERATOR_OF_DIRECTION)} expected, but none arrived.')
    scopes = [_generator(direction, reader) for direction in directions]
    resolved = architecture_of(reader, scopes)
    model = naming.model_name(resolved.architecture.light)
    step = reader.location.step or 0
    check_free(output, f'{model}.model-{step}')
    names = {scope: _names_of(scope, reader) for scope in scopes}
    metadata = {
        **(reader.sidecar() or {}),
        'architecture': resolved.architecture,
        'architecture_sources': resolved.sources,
        'slimmed_from': reader.location.name,
        'directions': list(directions),
    }
    needed = sum(reader.variables()[name].bytes for scope in scopes for name in names[scope])
    pieces = _pieces(reader, names, architecture_state(resolved.architecture))
    return save_pieces(output, model, step, pieces, metadata, bytes_needed=needed)


def _generator(direction: str, reader: CheckpointReader) -> str:
    if direction not in GENERATOR_OF_DIRECTION:
        raise UserError(f'a direction is one of {", ".join(GENERATOR_OF_DIRECTION)}, but {direction!r} arrived.')
    scope = GENERATOR_OF_DIRECTION[direction]
    if not _names_of(scope, reader):
        raise UserError(f'direction {direction} needs {scope}, which {reader.location.prefix} does not hold.')
    return scope


def check_free(output: PathLike, name: str) -> None:
    """UserError where the folder already holds a checkpoint of this name."""
    if (pathlib.Path(output) / f'{name}.index').exists():
        raise UserError(f'{pathlib.Path(output) / name} exists already and is left as it is; give another folder.')


def read_finite(reader: CheckpointReader, name: str) -> tf.Tensor:
    """The tensor stored as `name`; UserError where the source itself has NaN or infinity in it."""
    value = reader.read_one(name)
    if not is_finite(value):
        what = 'NaN' if bool(tf.reduce_any(tf.math.is_nan(value))) else 'infinity'
        raise UserError(f'the checkpoint is damaged: {what} in {name} of {reader.location.prefix}; copy or download it'
                        ' again, or take an earlier one.')  # fmt: skip
    return value


def _names_of(scope: str, reader: CheckpointReader) -> List[str]:
    return [name for name in reader.groups()['generators'] if naming.scope_of(name) == scope]


def _pieces(
    reader: CheckpointReader, names: Dict[str, List[str]], state: Dict[str, tf.Tensor]
) -> Iterator[Dict[str, tf.Tensor]]:
    """One generator at a time; the project state, a few scalars, goes with the first."""
    for number, scope in enumerate(names):
        small = {**reader.read(_state_names(reader, names)), **state} if number == 0 else {}
        yield {**{name: read_finite(reader, name) for name in names[scope]}, **small}


def _state_names(reader: CheckpointReader, scopes: Collection[str]) -> List[str]:
    dropped = set(GENERATORS + DISCRIMINATORS) - set(scopes)
    return [name for name in reader.groups()['project state'] if not dropped & set(name.split('/'))]
