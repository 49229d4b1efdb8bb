"""What the official training code calls things: its 776 variables, its folders and its files.

Both of its optimisers are called Adam. The one of the generators was made first, so it owns `beta1_power`; the one of
the discriminators owns `beta1_power_1`. Each trainable variable X has two slots, `X/Adam` (m) and `X/Adam_1` (v).
"""

from __future__ import annotations

import re
from typing import Collection, Dict, Iterable, List, Mapping, Optional, Tuple, Union

from ugatit.nn.architecture import DISCRIMINATORS, GENERATORS, Architecture
from ugatit.nn.blueprint import VariableSpec, variable_specs

BETA_POWERS: Dict[str, Tuple[str, str]] = {
    'generators': ('beta1_power', 'beta2_power'),
    'discriminators': ('beta1_power_1', 'beta2_power_1'),
}
SLOT_SUFFIXES: Tuple[str, str] = ('Adam', 'Adam_1')  # m, v
PROJECT_STATE = 'ugatit/'  # tensors that only this project knows: exponents, loss scale, seeds

GROUPS: Tuple[str, ...] = ('generators', 'discriminators', 'optimiser slots', 'counters', 'project state', 'other')

_COUNTER = re.compile(r'(beta[12]_power(_\d+)?|global_step)$')
_SLOT = re.compile(r'.+/(Adam|Adam_1)$')

Shape = Tuple[int, ...]


def slot_names(name: str) -> Tuple[str, str]:
    """The names of Adam's m and v of the variable `name`."""
    return f'{name}/{SLOT_SUFFIXES[0]}', f'{name}/{SLOT_SUFFIXES[1]}'


def official_names(architecture: Architecture) -> Dict[str, Shape]:
    """Name -> shape of everything the official training Saver writes, in its order; nothing is allocated.

    776 names by default: 276 network variables, 4 beta powers and two slots for each of 248 trainable variables.
    """
    return {**network_names(architecture), **optimiser_names(architecture)}


def network_names(architecture: Architecture, scopes: Iterable[str] = GENERATORS + DISCRIMINATORS) -> Dict[str, Shape]:
    """Name -> shape of the variables of the networks in `scopes`, in official order."""
    specs = (variable_specs(architecture, scope) for scope in scopes)
    return {name: tuple(spec.shape) for network in specs for name, spec in network.items()}


def optimiser_names(architecture: Architecture) -> Dict[str, Shape]:
    """Name -> shape of beta powers and slots of both optimisers, in official order."""
    names: Dict[str, Shape] = {}
    for owner, scopes in (('generators', GENERATORS), ('discriminators', DISCRIMINATORS)):
        names.update({power: () for power in BETA_POWERS[owner]})
        for scope in scopes:
            names.update(_slots(variable_specs(architecture, scope)))
    return names


def _slots(specs: Mapping[str, VariableSpec]) -> Dict[str, Shape]:
    trainable = {name: tuple(spec.shape) for name, spec in specs.items() if spec.trainable}
    return {slot: shape for name, shape in trainable.items() for slot in slot_names(name)}


def scope_of(name: str) -> str:
    """The network that a variable belongs to, `generator_B/conv/conv2d/kernel` -> `generator_B`."""
    return name.split('/', 1)[0]


def group_of(name: str, names: Collection[str]) -> str:
    """Which of `GROUPS` a stored tensor is in; `names` are all names of the checkpoint.

    A slot is whatever hangs below another variable's name, so slots of other optimisers are known as such too.
    """
    if name.startswith(PROJECT_STATE):
        return 'project state'
    if _COUNTER.match(name):
        return 'counters'
    if name.rpartition('/')[0] in names or _SLOT.match(name):
        return 'optimiser slots'
    scope = scope_of(name)
    return 'generators' if scope in GENERATORS else 'discriminators' if scope in DISCRIMINATORS else 'other'


def grouped(names: Collection[str]) -> Dict[str, List[str]]:
    """Group -> its names in the given order; every group is there, also an empty one."""
    groups: Dict[str, List[str]] = {group: [] for group in GROUPS}
    for name in names:
        groups[group_of(name, names)].append(name)
    return groups


def model_name(light: bool) -> str:
    """The first part of the file names: `UGATIT.model-N` or `UGATIT_light.model-N`."""
    return 'UGATIT_light' if light else 'UGATIT'


def official_model_dir(
    architecture: Architecture,
    dataset: str,
    gan_type: str = 'lsgan',
    n_critic: int = 1,
    adv_weight: float = 1.0,
    cycle_weight: float = 10.0,
    identity_weight: float = 10.0,
    cam_weight: float = 1000.0,
) -> str:
    """The folder name under which the official code looks for its checkpoint, given the same flags.

    Width and picture size are not part of it: give runs that differ in those different parent folders.
    """
    weights = '_'.join(_plain(w) for w in (n_critic, adv_weight, cycle_weight, identity_weight, cam_weight))
    depths = f'{architecture.n_res}resblock_{architecture.n_dis}dis'
    flags = ('_sn' if architecture.sn else '') + ('_smoothing' if architecture.smoothing else '')
    return f'{model_name(architecture.light)}_{dataset}_{gan_type}_{depths}_{weights}{flags}'


def _plain(weight: Union[int, float]) -> str:
    """The official flags are whole numbers: 1000.0 is written as 1000, 0.5 stays."""
    return str(int(weight)) if float(weight).is_integer() else repr(float(weight))


_FOLDER = re.compile(
    r'UGATIT(?P<light>_light)?_(?P<dataset>.+)_(?P<gan_type>[^_]+)_(?P<n_res>\d+)resblock_(?P<n_dis>\d+)dis'
    r'(_[\d.e+-]+){5}(?P<sn>_sn)?(?P<smoothing>_smoothing)?$'
)


def parse_model_dir(folder_name: str) -> Optional[Dict[str, Union[bool, int]]]:
    """What an official folder name says about the architecture; None where it does not follow the pattern."""
    match = _FOLDER.match(folder_name)
    if match is None:
        return None
    flags: Dict[str, Union[bool, int]] = {flag: match.group(flag) is not None for flag in ('light', 'sn', 'smoothing')}
    return {**flags, 'n_res': int(match.group('n_res')), 'n_dis': int(match.group('n_dis'))}
