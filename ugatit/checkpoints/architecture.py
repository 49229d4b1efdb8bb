"""What network a checkpoint holds: read off its variables as far as they tell, then JSON, folder name, defaults.

Not visible in official variables: smoothing, the picture size of a light model, the discriminators' depth and spectral
norm in a generator-only file. Our own checkpoints carry them as `ugatit/architecture/...` tensors too, so that a lost
JSON or a renamed folder does not change a picture.
"""

from __future__ import annotations

import dataclasses
import logging
import math
import re
from typing import Any, Collection, Dict, List, Mapping, NamedTuple, Optional, Union

import tensorflow as tf

from ugatit.checkpoints import naming
from ugatit.checkpoints.reader import CheckpointReader, StoredTensor
from ugatit.errors import UserError
from ugatit.nn.architecture import DISCRIMINATORS, GENERATORS, Architecture

_log = logging.getLogger(__name__)

STATE = naming.PROJECT_STATE + 'architecture/'
FIELDS = {field.name: field.default for field in dataclasses.fields(Architecture)}

LARGEST = {'image_size': 65536, 'ch': 4096, 'n_res': 256, 'n_dis': 15}
"""What a checkpoint, its JSON or its folder's name may say; more than that is damage. Fields left out are 0 or 1."""

Value = Union[bool, int]
Variables = Mapping[str, StoredTensor]


class ResolvedArchitecture(NamedTuple):
    """An architecture, and for every field where its value came from."""

    architecture: Architecture
    sources: Dict[str, str]  # field -> 'given' | 'variables' | 'json' | 'folder name' | 'default'

    def describe(self) -> str:
        """One line for the log: which value came from where."""
        by_source: Dict[str, List[str]] = {}
        for field, source in self.sources.items():
            by_source.setdefault(source, []).append(f'{field}={getattr(self.architecture, field)}')
        return '; '.join(f'{", ".join(values)} ({source})' for source, values in by_source.items())


def architecture_of(
    reader: CheckpointReader,
    scopes: Optional[Collection[str]] = None,
    folder_name: Optional[str] = None,
    sidecar: Optional[Mapping[str, Any]] = None,
    overrides: Optional[Mapping[str, Optional[Value]]] = None,
) -> ResolvedArchitecture:
    """Finds out the architecture of a checkpoint and logs which value came from where.

    Args:
      reader: the checkpoint.
      scopes: the networks to look at, e.g. `['generator_B']`; None looks at all that are there.
      folder_name: instead of the name of the checkpoint's folder.
      sidecar: instead of the JSON beside the checkpoint; its `architecture` entry counts.
      overrides: field -> value that the user asked for (None: not asked for). It wins over what was only noted; against
        the shapes and names of the networks' variables it is an error.

    Raises:
      UserError: no network of U-GAT-IT in the checkpoint, or an override that its variables contradict.
    """
    sidecar = reader.sidecar() if sidecar is None else sidecar
    folder_name = reader.location.folder.resolve().name if folder_name is None else folder_name
    visible = _from_variables(reader, scopes)
    told = {
        'variables': {**_from_state(reader), **visible},
        'json': _known((sidecar or {}).get('architecture')),
        'folder name': _known(naming.parse_model_dir(folder_name)),
        'default': FIELDS,
    }
    given = {field: value for field, value in (overrides or {}).items() if value is not None}
    _check_given(given, visible, reader)
    resolved = _merged({'given': given, **told})
    _warn_of_contradictions(resolved, {source: told[source] for source in ('json', 'folder name')})
    _log.info('architecture: %s', resolved.describe())
    return resolved


def architecture_state(architecture: Architecture) -> Dict[str, tf.Tensor]:
    """Name -> int32 scalar of every field, to be stored with a checkpoint."""
    return {STATE + field: tf.constant(int(getattr(architecture, field)), tf.int32) for field in FIELDS}


def _merged(told: Mapping[str, Mapping[str, Value]]) -> ResolvedArchitecture:
    """The first source in `told` that knows a field wins."""
    sources = {field: next(source for source, values in told.items() if field in values) for field in FIELDS}
    return ResolvedArchitecture(Architecture(**{field: told[sources[field]][field] for field in FIELDS}), sources)


def _check_given(given: Mapping[str, Value], found: Mapping[str, Value], reader: CheckpointReader) -> None:
    for field, value in given.items():
        if field not in found or found[field] == value:
            continue
        where = f'the variables of {reader.location.prefix}'
        if field == 'light':
            asked, there = _variant(value), _variant(found[field])
            raise UserError(f'a {asked} model was asked for, but {where} are those of a {there} one.')
        if field == 'image_size' and not found.get('light'):
            raise UserError(
                f'image_size {value} was asked for, but {where} are those of a full model, whose MLP fixes it to'
                f' {found[field]}; use that size, or a light model.'
            )
        raise UserError(f'{field} {value} was asked for, but {where} have {field} {found[field]}; leave it out.')


def _variant(light: Value) -> str:
    return 'light' if light else 'full'


def _warn_of_contradictions(resolved: ResolvedArchitecture, told: Mapping[str, Mapping[str, Value]]) -> None:
    for source, values in told.items():
        for field, value in values.items():
            used = getattr(resolved.architecture, field)
            if used != value and resolved.sources[field] != 'given':
                _log.warning('the %s says %s=%s; %s=%s is used (%s)',
                             source, field, value, field, used, resolved.sources[field])  # fmt: skip


def _known(values: Optional[Mapping[str, Any]]) -> Dict[str, Value]:
    """The fields of an architecture among `values`, those of the right type; a JSON may hold anything."""
    if not isinstance(values, Mapping):
        return {}
    known = {field: values[field] for field, default in FIELDS.items() if type(values.get(field)) is type(default)}
    return {field: value for field, value in known.items() if value <= LARGEST.get(field, 1)}


def _from_state(reader: CheckpointReader) -> Dict[str, Value]:
    names = {field: STATE + field for field in FIELDS if STATE + field in reader.variables()}
    values = {field: reader.read_whole_number(name, 0, LARGEST.get(field, 1)) for field, name in names.items()}
    return {field: type(FIELDS[field])(value) for field, value in values.items()}


def _from_variables(reader: CheckpointReader, scopes: Optional[Collection[str]]) -> Dict[str, Value]:
    variables = reader.variables()
    present = {naming.scope_of(name) for name in variables}
    wanted = [s for s in GENERATORS + DISCRIMINATORS if s in present and (scopes is None or s in scopes)]
    if not wanted:
        raise UserError(_why_none(reader, scopes))
    generators = [scope for scope in wanted if scope in GENERATORS]
    # Discriminators tell their depth even where only a generator is wanted.
    discriminators = [scope for scope in DISCRIMINATORS if scope in present]
    found = _of_discriminator(variables, discriminators[0]) if discriminators else {}
    return {**found, **(_of_generator(reader, generators[0]) if generators else {})}


def _why_none(reader: CheckpointReader, scopes: Optional[Collection[str]]) -> str:
    names = [name for group in ('generators', 'discriminators', 'other') for name in reader.groups()[group]]
    wanted = ', '.join(scopes if scopes is not None else GENERATORS + DISCRIMINATORS)
    hint = ' It looks like a TF2 object checkpoint.' if any('/.ATTRIBUTES/' in name for name in names) else ''
    return (
        f'variables of {wanted} expected in {reader.location.prefix}, but it holds {len(names)} others'
        f' ({", ".join(names[:3])}{", ..." if len(names) > 3 else ""}).{hint}'
    )


def _of_generator(reader: CheckpointReader, scope: str) -> Dict[str, Value]:
    variables = reader.variables()
    found: Dict[str, Value] = {'cam_generator': f'{scope}/CAM_logit/kernel' in variables}
    n_res = _count(variables, rf'{scope}/resblock_(\d+)/res1/conv_0/conv2d/kernel')
    ch = _width(variables, f'{scope}/conv/conv2d/kernel')
    if n_res:
        found['n_res'] = n_res
    if ch:
        found.update(_of_mlp(reader, scope, ch), ch=ch)
    return found


def _of_mlp(reader: CheckpointReader, scope: str, ch: int) -> Dict[str, Value]:
    """Light: [4 ch, 4 ch]. Full: [(S/4)^2 * 4 ch, 4 ch]; at S = 4 the two are the same function."""
    kernel = reader.variables().get(f'{scope}/MLP/linear_0/dense/kernel')
    if kernel is None or len(kernel.shape) != 2:
        return {}
    if kernel.shape[0] == 4 * ch:
        return {'light': True}
    side = math.isqrt(kernel.shape[0] // (4 * ch))
    if side * side * 4 * ch != kernel.shape[0]:
        raise UserError(
            f'{scope}/MLP/linear_0/dense/kernel expected as [{4 * ch}, {4 * ch}] (light) or [(size/4)^2 * {4 * ch},'
            f' {4 * ch}] (full), but {reader.location.prefix} has {list(kernel.shape)}; it is no model of ours.'
        )
    return {'light': False, 'image_size': 4 * side}


def _of_discriminator(variables: Variables, scope: str) -> Dict[str, Value]:
    """The global half has conv_0 .. conv_(n_dis - 2), the local one two fewer."""
    found: Dict[str, Value] = {
        'sn': any(re.match(rf'{scope}/(local|global)/conv_0/(kernel|u)$', name) for name in variables),
        'cam_discriminator': f'{scope}/global/CAM_logit/kernel' in variables,
    }
    n_dis = 1 + _count(variables, rf'{scope}/global/conv_(\d+)/(conv2d/)?kernel')
    ch = _width(variables, f'{scope}/global/conv_0/kernel', f'{scope}/global/conv_0/conv2d/kernel')
    return {**found, **({'n_dis': n_dis} if n_dis > 1 else {}), **({'ch': ch} if ch else {})}


def _count(variables: Variables, pattern: str) -> int:
    return len({match.group(1) for match in (re.match(pattern + '$', name) for name in variables) if match})


def _width(variables: Variables, *names: str) -> Optional[int]:
    """Output channels of the first kernel of `names` that is there."""
    return next((variables[name].shape[-1] for name in names if name in variables and variables[name].shape), None)
