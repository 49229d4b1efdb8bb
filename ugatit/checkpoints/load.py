"""Loading succeeds fully or fails with lists of what does not fit, before anything big is read."""

from __future__ import annotations

import logging
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence

import tensorflow as tf

from ugatit.checkpoints import naming
from ugatit.checkpoints.reader import CheckpointReader, StoredTensor
from ugatit.errors import UserError
from ugatit.nn.blueprint import VariableSpec
from ugatit.nn.variables import Initial, VariableFactory, named_variable

_log = logging.getLogger(__name__)

_LISTED = 12  # so many names of each list in an error message; the log has them all
_POWER_ITERATION = '/u'  # the spectral norm's vector: a fresh one converges, so a lost one is no error


class LoadReport(NamedTuple):
    """What a checkpoint gives to some networks, and what of it stays unread."""

    loaded: List[str]  # official names, in the order of the specs
    reinitialised: List[str]  # spectral-norm vectors `u` that the checkpoint lacks
    skipped: Dict[str, int]  # group -> number of tensors left alone: optimiser slots, counters, other networks, ...

    def describe(self) -> str:
        """One line for the log."""
        skipped = ', '.join(f'{count} {group}' for group, count in self.skipped.items() if count) or 'nothing'
        return f'{len(self.loaded)} variables loaded; skipped: {skipped}'


def check_variables(specs: Mapping[str, VariableSpec], reader: CheckpointReader) -> LoadReport:
    """Checks that `reader` holds exactly the variables in `specs`, with their shapes; reads the index only.

    Args:
      specs: official name -> VariableSpec (`blueprint.variable_specs`) of one or more whole networks. Variables of
        other networks are left alone, and so are optimiser slots and counters: the report counts them as skipped.
      reader: the checkpoint.

    Raises:
      UserError: with the lists of missing, unexpected and misshapen variables.
    """
    stored, groups = reader.variables(), reader.groups()
    scopes = {naming.scope_of(name) for name in specs}
    missing = [name for name in specs if name not in stored]
    reinitialised = [name for name in missing if name.endswith(_POWER_ITERATION)]
    missing = [name for name in missing if name not in reinitialised]
    networks = groups['generators'] + groups['discriminators']
    unexpected = [name for name in networks if naming.scope_of(name) in scopes and name not in specs]
    misshapen = [text for name in specs if name in stored for text in _misfit(name, specs[name].shape, stored[name])]
    if missing or unexpected or misshapen:
        raise UserError(_mismatch(reader, missing, unexpected, misshapen))
    if reinitialised:
        _log.warning('%s lacks %d spectral-norm vectors, which start anew: %s',
                     reader.location.prefix, len(reinitialised), ', '.join(reinitialised))  # fmt: skip
    report = LoadReport([name for name in specs if name in stored], reinitialised, _skipped(groups, specs))
    _log.info('%s: %s', reader.location.prefix, report.describe())
    return report


def checkpoint_factory(reader: CheckpointReader, fallback: Optional[VariableFactory] = None) -> VariableFactory:
    """A variable factory that gives stored tensors, each read when its variable is made, without a second copy.

    Args:
      reader: the checkpoint.
      fallback: makes what the checkpoint lacks (call `check_variables` first: that is spectral-norm vectors at most);
        None raises for it.

    Returns:
      `factory(name, shape, initial, trainable) -> tf.Variable` under the official name; `initial` is for `fallback`.
    """

    def factory(name: str, shape: Sequence[int], initial: Initial, trainable: bool) -> tf.Variable:
        if fallback is not None and name not in reader.variables():
            return fallback(name, shape, initial, trainable)
        tensor = reader.read_one(name)
        if tuple(shape) != tuple(tensor.shape):
            raise UserError(f'{reader.location.prefix}: {_misshapen(name, shape, tensor.shape)}.')
        return named_variable(name, tensor, trainable)

    return factory


def _skipped(groups: Mapping[str, List[str]], specs: Mapping[str, VariableSpec]) -> Dict[str, int]:
    left = {group: sum(name not in specs for name in names) for group, names in groups.items()}
    other_networks = left.pop('generators') + left.pop('discriminators')
    return {'variables of other networks': other_networks, **left}


def _misfit(name: str, shape: Sequence[int], stored: StoredTensor) -> List[str]:
    if tuple(shape) != stored.shape:
        return [_misshapen(name, shape, stored.shape)]
    return [] if stored.dtype == tf.float32 else [f'{name} (expected float32, found {stored.dtype.name})']


def _misshapen(name: str, expected: Sequence[int], found: Sequence[int]) -> str:
    return f'{name} (expected {list(expected)}, found {list(found)})'


def _mismatch(reader: CheckpointReader, missing: List[str], unexpected: List[str], misshapen: List[str]) -> str:
    lists = {'missing': missing, 'unexpected': unexpected, 'misshapen': misshapen}
    for kind, names in lists.items():
        _log.debug('%s %s: %s', reader.location.prefix, kind, ', '.join(names))
    parts = '; '.join(f'{kind} ({len(names)}): {_shortened(names)}' for kind, names in lists.items())
    return f'{reader.location.prefix} does not hold the variables of this network. {parts}.'


def _shortened(names: List[str]) -> str:
    more = len(names) - _LISTED
    return (', '.join(names[:_LISTED]) or 'none') + (f' and {more} more' if more > 0 else '')
