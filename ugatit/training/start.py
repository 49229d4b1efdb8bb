"""Where a run begins: at step 0 with seeded or given weights, or at the checkpoint that its work directory holds."""

from __future__ import annotations

import dataclasses
import logging
import pathlib
from typing import Any, Dict, List, Mapping, NamedTuple, Optional

from ugatit.checkpoints import (
    BETA_POWERS,
    CheckpointReader,
    architecture_of,
    check_variables,
    checkpoint_factory,
    official_model_dir,
    slot_names,
)
from ugatit.checkpoints.location import prefixes_in
from ugatit.errors import UserError
from ugatit.nn.algebra import LEAST_CH
from ugatit.nn.architecture import DISCRIMINATORS, GENERATORS, NETWORKS, Architecture
from ugatit.nn.blueprint import VariableSpec, variable_specs
from ugatit.nn.build import Build, Registry
from ugatit.nn.policy import FLOAT32_POLICY
from ugatit.nn.rules import Variants
from ugatit.nn.variables import seeded
from ugatit.training.device import Device
from ugatit.training.networks import build_networks
from ugatit.training.optimiser import make_optimisers
from ugatit.training.penalty import stateless_noise
from ugatit.training.schedule import Schedule, learning_rate, steps_done_at
from ugatit.training.settings import Settings, TrainingSettings
from ugatit.training.state import own_state
from ugatit.training.update import Training

_log = logging.getLogger(__name__)

CHECKPOINTS = 'checkpoints'  # below the work directory
PLAIN_DEVICE = Device()
_NO_MATTER = ('log_every', 'save_every', 'sample_every', 'keep', 'warn_after')  # change no number of the run


class Start(NamedTuple):
    """How a run begins."""

    folder: pathlib.Path  # where its checkpoints are written
    steps_done: int
    resumed: Optional[CheckpointReader]  # everything comes from here
    weights: Optional[CheckpointReader] = None  # the networks come from here, Adam starts anew

    @property
    def sidecar(self) -> Mapping[str, Any]:
        """What the JSON beside the checkpoint says; empty for a new run, or where it is lost."""
        return (self.resumed.sidecar() if self.resumed else None) or {}


def find_start(settings: Settings, workdir: pathlib.Path, dataset: str, init_from: Optional[str]) -> Start:
    """Looks for the run's checkpoint, then for `init_from`; reads indices only.

    Raises:
      UserError: a checkpoint holds another network than the settings say, or lacks something.
    """
    architecture, variants = settings.model.architecture, settings.model.load_variants()
    found = _checkpoint_in(workdir / CHECKPOINTS)
    if found is None:
        folder = workdir / CHECKPOINTS / _folder_name(settings, dataset)
        weights = None if init_from is None else _weights(init_from, architecture, variants)
        _log.info('starting from %s', 'scratch' if weights is None else f'the weights of {weights.location.prefix}')
        return Start(folder, 0, None, weights)
    if found.location.step is None:
        raise UserError(f'{found.location.prefix} should end in a number, as in UGATIT.model-1000; rename its files.')
    _check_architecture(found, architecture, f'use another --workdir, or the settings of the run in {workdir}')
    _check_state(found, architecture, variants)
    if init_from is not None:
        _log.info('--init_from is left alone: %s holds a run already, which continues', workdir)
    return Start(found.location.folder, steps_done_at(found.location.step), found)


def _checkpoint_in(folder: pathlib.Path) -> Optional[CheckpointReader]:
    """The newest checkpoint of the one model directory in `folder`; None where there is none."""
    if not folder.is_dir():
        return None
    runs = [child for child in sorted(folder.iterdir()) if child.is_dir() and prefixes_in(child)]
    return CheckpointReader(folder) if runs or prefixes_in(folder) else None


def _folder_name(settings: Settings, dataset: str) -> str:
    training = settings.training
    safe = ''.join(c if c.isascii() and (c.isalnum() or c in '._-') else '-' for c in dataset)
    return official_model_dir(
        settings.model.architecture,
        safe,
        training.gan_type,
        training.n_critic,
        training.adversarial_weight,
        training.cycle_weight,
        training.identity_weight,
        training.cam_weight,
    )


def _weights(path: str, architecture: Architecture, variants: Variants) -> CheckpointReader:
    reader = CheckpointReader(path)
    _check_architecture(reader, architecture, 'set --config.model to what the checkpoint holds')
    check_variables(_specs(architecture, variants), reader)
    return reader


def _check_architecture(reader: CheckpointReader, wanted: Architecture, remedy: str) -> None:
    resolved = architecture_of(reader)
    there, sources = resolved.architecture, resolved.sources
    known = [field for field, source in sources.items() if source != 'default']
    if there.light and sources['image_size'] != 'variables':
        known = [field for field in known if field != 'image_size']  # a light model may go on at another size
    differing = [field for field in known if getattr(there, field) != getattr(wanted, field)]
    if differing:
        stored, asked = (
            ', '.join(f'{field} {getattr(which, field)}' for field in differing) for which in (there, wanted)
        )
        raise UserError(f'{reader.location.prefix} has {stored}, but the config says {asked}; {remedy}.')


def _specs(architecture: Architecture, variants: Variants) -> Dict[str, VariableSpec]:
    return {k: v for scope in NETWORKS for k, v in variable_specs(architecture, scope, variants).items()}


def _check_state(reader: CheckpointReader, architecture: Architecture, variants: Variants) -> None:
    """Networks, slots and powers; a checkpoint without the optimisers' state is no run that could go on."""
    check_variables(_specs(architecture, variants), reader)
    stored, missing = reader.variables(), []
    for owner, scopes in (('generators', GENERATORS), ('discriminators', DISCRIMINATORS)):
        specs = {k: v for scope in scopes for k, v in variable_specs(architecture, scope, variants).items()}
        slots = [slot for name, spec in specs.items() if spec.trainable for slot in slot_names(name)]
        missing += [name for name in [*BETA_POWERS[owner], *slots] if name not in stored]
    if missing:
        raise UserError(
            f'{reader.location.prefix} lacks {len(missing)} variables of the optimisers (first {missing[0]}), so it'
            ' cannot be continued exactly; start a new run from its weights: another --workdir, and'
            f' --init_from={reader.location.folder}.'
        )


def make_training(settings: Settings, start: Start, device: Device = PLAIN_DEVICE) -> Training:
    """Networks, optimisers, objective and precision with the values that the run begins with; call it inside
    `device.scope()`."""
    training, variants = settings.training, settings.model.load_variants()
    precision = settings.numerics.make_precision(settings.model.architecture, variants, device)
    fresh = seeded(training.seed)
    source = start.resumed or start.weights
    stored = fresh if source is None else checkpoint_factory(source, fallback=fresh)
    slots = checkpoint_factory(start.resumed) if start.resumed else fresh
    made = Build(precision.policy, variants=variants, factory=stored)
    made = dataclasses.replace(made, algebra=_uses_algebra(settings, made, device))
    networks = build_networks(
        settings.model.architecture,
        lambda scope: device.adapt(dataclasses.replace(made, scaling=precision.scaling(scope), registry=Registry())),
    )
    if start.resumed:
        precision.restore(own_state(start.resumed))
    if training.recompute and any(network.registry.running for network in networks.generators):
        raise UserError('--config.training.recompute computes fakes twice, which running statistics would count twice;'
                        ' set it to False, or use variants without batch normalisation.')  # fmt: skip
    return Training(
        networks,
        make_optimisers(networks, slots),
        training.objective,
        stateless_noise(training.seed, device.replicas, device.replica),
        training.batch_momentum,
        training.recompute,
        precision,
        device,
    )


def _uses_algebra(settings: Settings, build: Build, device: Device) -> bool:
    """Whether layers use the identities of `ugatit.nn.algebra`: where they hold and pay."""
    wanted = settings.training.algebra == 'auto' and settings.model.ch >= LEAST_CH
    return wanted and device.name == 'cpu' and build.policy == FLOAT32_POLICY


def report_changes(settings: Settings, start: Start) -> List[str]:
    """One line per setting that differs from the checkpoint's, old and new, and what that does to the learning rate."""
    before = start.sidecar.get('settings')
    if start.resumed is None:
        return []
    if not isinstance(before, Mapping):
        return ['the settings of the earlier part are not known (its JSON is missing): the config given now counts']
    lines = [
        f'changed: --config.{section}.{field} was {_stored(before, section, field)!r}, now {value!r}'
        for section, fields in settings.to_json().items()
        for field, value in fields.items()
        if field not in _NO_MATTER and _stored(before, section, field) not in (value, _UNKNOWN)
    ]
    return lines + _report_schedule(settings.training, before.get('training') or {}, start.steps_done)


_UNKNOWN = object()  # an older version did not have this field


def _stored(before: Mapping[str, Any], section: str, field: str) -> Any:
    values = before.get(section)
    return values.get(field, _UNKNOWN) if isinstance(values, Mapping) else _UNKNOWN


def _report_schedule(now: TrainingSettings, before: Mapping[str, Any], steps_done: int) -> List[str]:
    fields = ('learning_rate', 'epochs', 'steps_per_epoch', 'decay_epoch', 'decay', 'n_critic')
    if any(field not in before for field in fields):
        return []
    old, new = Schedule(**{field: before[field] for field in fields}), now.schedule
    if old == new:
        return []
    rates = learning_rate(old, steps_done), learning_rate(new, steps_done)
    return [
        f'schedule: {old.steps} steps were planned, now {new.steps}; {steps_done} are done; learning rate at the next'
        f' step was to be {rates[0]:.3g}, now {rates[1]:.3g}'
    ]
