"""Writes checkpoints so that whoever is killed or runs out of disk at any moment still has the one before.

Everything is written into a hidden folder inside the target folder and then moved, in this order: data, JSON, `.index`
(from here on the checkpoint exists), the text file `checkpoint`, and last the oldest ones are deleted. One writer per
folder: what a killed one left behind is removed by the next.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import os
import pathlib
import re
import shutil
import tempfile
from typing import Any, Iterable, Iterator, List, Mapping, Optional, Sequence, Union

import numpy as np
import tensorflow as tf

from ugatit.checkpoints.location import (
    STATE_FILE,
    Location,
    PathLike,
    data_files,
    prefix_of,
    prefixes_in,
    step_of,
    with_suffix,
)
from ugatit.errors import UserError

_log = logging.getLogger(__name__)

Value = Union[tf.Tensor, tf.Variable, np.ndarray, float, int]

_UNFINISHED = '.saving-'  # hidden, so that no search for checkpoints looks inside
_MODEL_NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9_.-]*$')
_CHUNK = 2**22  # values looked at together when searching for NaN: 16 MB
_MARGIN = 2**20  # bytes beside the tensors: index, JSON, `checkpoint`


def save_checkpoint(
    folder: PathLike,
    model_name: str,
    step: int,
    tensors: Mapping[str, Value],
    metadata: Optional[Mapping[str, Any]] = None,
    keep: Optional[int] = None,
) -> Location:
    """Writes `folder/MODEL_NAME.model-STEP` and makes it the folder's latest. Call it eagerly.

    Args:
      folder: made where it does not exist.
      model_name: `naming.model_name(light)`, i.e. UGATIT or UGATIT_light.
      step: the official counter; it starts at 1, so after N steps it is N + 1.
      tensors: official name -> value. Variables are written from where they are, without a copy.
      metadata: goes into the JSON beside the checkpoint; dataclasses such as Architecture become objects.
      keep: so many checkpoints of this model stay, the newest by number, and in any case this one; None keeps all.

    Raises:
      UserError: a value is not finite (names the tensor), the disk is too small or the folder cannot be written;
        what was there before is still there.
    """
    return save_pieces(folder, model_name, step, [tensors], metadata, keep, bytes_needed=_bytes_of(tensors))


def save_pieces(
    folder: PathLike,
    model_name: str,
    step: int,
    pieces: Iterable[Mapping[str, Value]],
    metadata: Optional[Mapping[str, Any]] = None,
    keep: Optional[int] = None,
    bytes_needed: int = 0,
) -> Location:
    """Like `save_checkpoint`, for tensors that do not fit into memory together.

    Each piece is written before the next one is asked for, and becomes a data file of its own
    (`.data-00000-of-00002`, ...), as TensorFlow itself shards large checkpoints. `bytes_needed` is checked against
    the free disk first.
    """
    _check_arguments(model_name, step, keep)
    text = json.dumps({'step': step, **(metadata or {})}, indent=1, default=_json_value) + '\n'
    target = pathlib.Path(folder) / f'{model_name}.model-{step}'
    with _reported(target), _hidden_folder(target.parent) as hidden:
        _check_disk(target.parent, bytes_needed)
        _write_pieces(hidden / target.name, pieces)
        with_suffix(hidden / target.name, '.json').write_text(text, encoding='utf-8')
        _publish(hidden / target.name, target)
        survivors = _survivors(target, model_name, keep)
        write_state_file(target.parent, target.name, [prefix.name for prefix in survivors])
        if keep is not None:
            _delete_others(target.parent, model_name, survivors)
    _log.info('saved %s', target)
    return Location(target, step, 'just written')


def write_state_file(folder: pathlib.Path, latest: str, names: Sequence[str]) -> None:
    """Writes the text file `checkpoint` with relative names only, so that the folder may be moved."""
    lines = [f'model_checkpoint_path: "{latest}"', *(f'all_model_checkpoint_paths: "{name}"' for name in names)]
    unfinished = folder / f'{_UNFINISHED}{STATE_FILE}'
    unfinished.write_text('\n'.join(lines) + '\n', encoding='utf-8')
    os.replace(unfinished, folder / STATE_FILE)


def delete_checkpoint(location: Location) -> None:
    """Removes a checkpoint that was just written and turned out wrong, and its folder where nothing else is there."""
    folder = location.prefix.parent
    _delete(location.prefix)
    left = [prefix.name for prefix in prefixes_in(folder)]
    if left:
        write_state_file(folder, left[-1], left)
        return
    (folder / STATE_FILE).unlink()
    with contextlib.suppress(OSError):  # somebody else's files are in it
        folder.rmdir()


def is_finite(value: Value) -> bool:
    """False where a float tensor holds NaN or infinity; needs some 30 MB, however large the tensor is."""
    tensor = tf.convert_to_tensor(value)
    if not tensor.dtype.is_floating:
        return True
    flat = tf.reshape(tensor, [-1])
    starts = range(0, int(tf.size(flat, out_type=tf.int64)), _CHUNK)
    return all(tf.reduce_all(tf.math.is_finite(flat[start : start + _CHUNK])) for start in starts)


def _check_arguments(model_name: str, step: int, keep: Optional[int]) -> None:
    if not _MODEL_NAME.match(model_name):
        raise UserError(f'model_name must be letters, digits, _ . - (such as UGATIT), but {model_name!r} arrived.')
    if step < 0:
        raise UserError(f'step must be 0 or more, but {step} arrived.')
    if keep is not None and keep < 1:
        raise UserError(f'keep must be at least 1, or None to keep all checkpoints, but {keep} arrived.')


@contextlib.contextmanager
def _reported(target: pathlib.Path) -> Iterator[None]:
    """Turns what TensorFlow and the system say about a full or read-only disk into one sentence."""
    try:
        yield
    except (OSError, tf.errors.OpError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f'{target} could not be written (is the disk full or read-only?): {reason}') from error


@contextlib.contextmanager
def _hidden_folder(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """A new folder inside `folder`, removed in the end with all that is left in it; old ones are removed first."""
    folder.mkdir(parents=True, exist_ok=True)
    for leftover in folder.glob(_UNFINISHED + '*'):
        shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
    hidden = pathlib.Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder))
    try:
        yield hidden
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def _check_disk(folder: pathlib.Path, bytes_needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < bytes_needed + _MARGIN:
        raise UserError(
            f'{folder} needs {(bytes_needed + _MARGIN) / 1e6:.0f} MB for the checkpoint, but {free / 1e6:.0f} MB are'
            ' free; free some, or keep fewer checkpoints.'
        )


def _bytes_of(tensors: Mapping[str, Value]) -> int:
    values = [value if hasattr(value, 'shape') else np.asarray(value) for value in tensors.values()]
    return sum(int(np.prod(value.shape, dtype=np.int64)) * tf.as_dtype(value.dtype).size for value in values)


def _write_pieces(prefix: pathlib.Path, pieces: Iterable[Mapping[str, Value]]) -> None:
    parts: List[str] = []
    for piece in pieces:
        parts.append(f'{prefix}.part-{len(parts)}')
        _write(parts[-1], piece)
        del piece  # before the next one is made
    # Of a single part this is a mere rename; of more it writes one index, the data stays where it is.
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=str(prefix), delete_old_dirs=False)
    for path in [*data_files(prefix), with_suffix(prefix, '.index')]:
        _flush(path)


def _write(prefix: str, tensors: Mapping[str, Value]) -> None:
    broken = [name for name, value in tensors.items() if not is_finite(value)]
    if broken:
        raise UserError(
            f'finite values expected, but NaN or infinity is in {", ".join(broken)}; no checkpoint was written: go back'
            ' to the last one, with a lower learning rate or another precision.'
        )
    with tf.device('/CPU:0'):
        tf.raw_ops.SaveV2(
            prefix=prefix,
            tensor_names=list(tensors),
            shape_and_slices=[''] * len(tensors),
            tensors=[tf.convert_to_tensor(value) for value in tensors.values()],
        )


def _flush(path: pathlib.Path) -> None:
    """Waits until the disk has it: a full disk may only tell now, and a power cut must not leave an empty file."""
    with open(path, 'rb+') as file:
        os.fsync(file.fileno())


def _publish(hidden: pathlib.Path, target: pathlib.Path) -> None:
    """Moves a finished checkpoint into place; its `.index` makes it visible, so that comes last.

    An old checkpoint of the same number goes first: its index beside new data would be neither.
    """
    _delete(target)
    for path in data_files(hidden):
        os.replace(path, target.parent / path.name)
    for suffix in ('.json', '.index'):
        os.replace(with_suffix(hidden, suffix), with_suffix(target, suffix))


def _survivors(target: pathlib.Path, model_name: str, keep: Optional[int]) -> List[pathlib.Path]:
    """The newest `keep` by number and `target`, oldest first."""
    ours = [prefix for prefix in prefixes_in(target.parent) if _is_of(prefix, model_name)]
    return [prefix for prefix in ours if keep is None or prefix in ours[-keep:] or prefix == target]


def _delete_others(folder: pathlib.Path, model_name: str, survivors: List[pathlib.Path]) -> None:
    """Also data that a killed writer left without its `.index`: that would be 8 GB for nothing."""
    prefixes = {prefix_of(path) for path in folder.iterdir() if prefix_of(path) != path}
    for prefix in prefixes - set(survivors):
        if _is_of(prefix, model_name):
            _delete(prefix)
            _log.info('deleted %s', prefix)


def _is_of(prefix: pathlib.Path, model_name: str) -> bool:
    return prefix.name == f'{model_name}.model-{step_of(prefix)}'


def _delete(prefix: pathlib.Path) -> None:
    """The index first: without it nobody takes the rest for a checkpoint."""
    files = [with_suffix(prefix, '.index'), *data_files(prefix)]
    for path in [*files, with_suffix(prefix, '.json'), with_suffix(prefix, '.meta')]:
        with contextlib.suppress(FileNotFoundError):
            path.unlink()


def _json_value(value: Any) -> Any:
    """What JSON does not know: dataclasses, NumPy and TensorFlow values, paths."""
    if dataclasses.is_dataclass(value):
        return dataclasses.asdict(value)
    return np.asarray(value).tolist() if hasattr(value, 'shape') else str(value)
