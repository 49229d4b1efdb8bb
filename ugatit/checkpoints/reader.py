"""Reads checkpoints in TensorFlow's V2 format, official ones and ours, and of each only the tensors that are needed."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import tempfile
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Union

import tensorflow as tf

from ugatit.checkpoints import naming
from ugatit.checkpoints.ahead import Ahead
from ugatit.checkpoints.location import Location, PathLike, data_files, locate
from ugatit.errors import UserError

_log = logging.getLogger(__name__)

_GLOB = re.compile(r'[*?\[\]\\]')


class StoredTensor(NamedTuple):
    """What the index says about one tensor."""

    shape: naming.Shape
    dtype: tf.DType

    @property
    def count(self) -> int:
        """The number of values."""
        count = 1
        for size in self.shape:
            count *= size
        return count

    @property
    def bytes(self) -> int:
        """Its size in the data file; 0 for strings, whose size the index does not tell."""
        return 0 if self.dtype == tf.string else self.count * self.dtype.size


class CheckpointReader:
    """An open checkpoint. Opening reads the index (some 50 kB) and checks that the data is all there.

    Attributes:
      location: which checkpoint, and how it was found.
    """

    def __init__(self, path: Union[PathLike, Location]) -> None:
        """Opens the checkpoint that `path` means (see `locate`).

        Raises:
          UserError: nothing there, the index or data file is missing or cut off, or the index is no index.
        """
        self.location = path if isinstance(path, Location) else locate(path)
        self._ahead: Optional[Ahead] = None
        self._alias: Optional[tempfile.TemporaryDirectory] = None  # lives as long as the reader
        self._prefix = self._readable_prefix()
        self._variables = self._read_index()
        self._check_size()

    def variables(self) -> Dict[str, StoredTensor]:
        """Name -> shape and type of everything stored, sorted by name; reads no data."""
        return dict(self._variables)

    def groups(self) -> Dict[str, List[str]]:
        """The names by `naming.GROUPS`: generators, discriminators, optimiser slots, ..."""
        return naming.grouped(self._variables)

    def read(self, names: Iterable[str]) -> Dict[str, tf.Tensor]:
        """Name -> tensor in main memory, in the order of `names`.

        The tensors come straight from `RestoreV2`: no NumPy copy is made, and `tf.Variable(tensor)` shares the memory
        of a tensor on the same device.

        Raises:
          UserError: a name is not in the checkpoint, or its data is damaged.
        """
        return {name: self.read_one(name) for name in names}

    def read_one(self, name: str) -> tf.Tensor:
        """The tensor stored as `name`; errors as in `read`."""
        if name not in self._variables:
            raise UserError(f'{self.location.prefix} holds no tensor {name}; `python -m ugatit.checkpoints` lists all.')
        if self._ahead is not None and name in self._ahead:
            with contextlib.suppress(tf.errors.OpError):  # of its piece: reading it alone tells which one is damaged
                return self._ahead.take(name)
        try:
            return self._restore([name])[0]
        except tf.errors.OpError as error:
            raise UserError(self._damaged(name)) from error

    def read_ahead(self, names: Iterable[str]) -> None:
        """Begins to read these in threads; `read_one` and `read` give each once from there, others as ever.

        Call it where all of them are wanted soon, in about this order: until then they are in memory together.
        """
        self._ahead = Ahead(self._restore, {name: self._variables[name].bytes for name in names})

    def _restore(self, names: Sequence[str]) -> List[tf.Tensor]:
        with tf.init_scope(), tf.device('/CPU:0'):
            return tf.raw_ops.RestoreV2(
                prefix=self._prefix,
                tensor_names=names,
                shape_and_slices=[''] * len(names),
                dtypes=[self._variables[name].dtype for name in names],
            )

    def read_whole_number(self, name: str, least: int, most: int) -> int:
        """The whole number stored as `name`, a scalar; UserError naming it for any other shape, type or size."""
        stored = self._variables[name]
        if stored.shape != () or not stored.dtype.is_integer:
            found = f'{stored.dtype.name} values of shape {list(stored.shape)}'
        else:
            value = int(self.read_one(name))
            if least <= value <= most:
                return value
            found = str(value)
        raise UserError(
            f'{name} in {self.location.prefix} should be one whole number from {least} to {most}, but it is {found};'
            ' copy the checkpoint again from where it came from.'
        )

    def sidecar(self) -> Optional[Dict[str, Any]]:
        """The JSON beside the checkpoint; None where there is none or it is unreadable (logged)."""
        try:
            content = json.loads(self.location.sidecar.read_text(encoding='utf-8'))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            _log.warning('%s is not readable and is ignored: %s', self.location.sidecar, error)
            return None
        return content if isinstance(content, dict) else None

    def _readable_prefix(self) -> str:
        """TensorFlow takes a path for a glob pattern, so a folder with brackets in its name gets a plain alias."""
        prefix = self.location.prefix
        if not _GLOB.search(str(prefix)) or os.name == 'nt':
            return str(prefix)
        self._alias = tempfile.TemporaryDirectory(prefix='ugatit-')
        for path in [self.location.index, *data_files(prefix)]:
            os.symlink(path.resolve(), os.path.join(self._alias.name, 'alias' + path.name[len(prefix.name) :]))
        return os.path.join(self._alias.name, 'alias')

    def _read_index(self) -> Dict[str, StoredTensor]:
        if not self.location.index.is_file():
            raise UserError(f'no checkpoint {self.location.prefix}: {self.location.index.name} does not exist.')
        try:
            reader = tf.compat.v1.train.NewCheckpointReader(self._prefix)
            shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
        except (tf.errors.OpError, RuntimeError, ValueError) as error:
            raise UserError(
                f'{self.location.index} is no index of a TensorFlow checkpoint, or it is damaged'
                f' ({self.location.index.stat().st_size} bytes); copy or download it again.'
            ) from error
        return {name: StoredTensor(tuple(shapes[name]), tf.as_dtype(dtypes[name])) for name in sorted(shapes)}

    def _check_size(self) -> None:
        """A cut-off download is the usual damage, and its size tells at once."""
        paths = data_files(self.location.prefix)
        missing = [path.name for path in paths if not path.is_file()]
        if missing:
            raise UserError(
                f'{self.location.prefix} has an .index but its data is missing: put {", ".join(missing)} next to it.'
            )
        expected, found = sum(v.bytes for v in self._variables.values()), sum(path.stat().st_size for path in paths)
        if found < expected:
            raise UserError(
                f'{", ".join(map(str, paths))} is cut off: the index asks for {expected} bytes of data, {found} are'
                ' there; copy or download it again.'
            )

    def _damaged(self, name: str) -> str:
        return (
            f'the data of {name} in {self.location.prefix} is damaged (its checksum differs or it cannot be read); copy'
            ' or download the .data and .index files again, together.'
        )
