"""A range plan: one exponent per range group, and what was known when it was made. Readable JSON on disk."""

from __future__ import annotations

import dataclasses
import json
import os
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Dict, Tuple, Union

from ugatit.errors import UserError
from ugatit.nn.architecture import NETWORKS

FORMAT = 1
MOST_HEADROOM = 15  # powers of two; with more not even 1.0 would be let in
PathLike = Union[str, 'os.PathLike[str]']


@dataclasses.dataclass(frozen=True)
class RangePlan(Mapping[str, Dict[str, int]]):
    """{network: {group: e}} with e >= 0: the group's tensors are stored as t * 2**-e. Groups left out have e = 0."""

    networks: Mapping[str, Mapping[str, int]]
    headroom_bits: float = 1.0  # powers of two left between the calibration's largest value and 65504
    notes: Tuple[str, ...] = ()  # what could not be fitted, and warnings about the calibration
    pictures: Mapping[str, int] = dataclasses.field(default_factory=dict)  # network -> calibration pictures

    def __post_init__(self) -> None:
        for network, groups in self.networks.items():
            if network not in NETWORKS:
                raise UserError(
                    f'A range plan is for {", ".join(NETWORKS)}, but it names {network!r}; correct the name.'
                )
            for group, exponent in groups.items():
                if isinstance(exponent, bool) or not isinstance(exponent, int) or not 0 <= exponent <= 60:
                    raise UserError(
                        f'A range exponent is a whole number from 0 to 60, but {network} {group} has {exponent!r};'
                        ' correct the plan or make it again with diagnose.py ranges --save_plan.'
                    )

    def __getitem__(self, network: str) -> Dict[str, int]:
        return dict(self.networks[network])

    def __iter__(self) -> Iterator[str]:
        return iter(self.networks)

    def __len__(self) -> int:
        return len(self.networks)

    def nonzero(self, network: str) -> Dict[str, int]:
        """The groups of a network that are scaled at all; empty where the plan does not speak of the network."""
        return {group: e for group, e in self.networks.get(network, {}).items() if e}

    def merged(self, other: RangePlan) -> RangePlan:
        """Both plans' networks; the other's where both speak of one."""
        return RangePlan(
            networks={**self.networks, **other.networks},
            headroom_bits=min(self.headroom_bits, other.headroom_bits),
            notes=self.notes + tuple(note for note in other.notes if note not in self.notes),
            pictures={**self.pictures, **other.pictures},
        )

    def save(self, path: PathLike) -> None:
        """Writes JSON, whole or not at all, making missing folders; a link stays one.

        Raises:
            UserError: a folder or a device, or the system refuses.
        """
        if os.path.exists(path) and not os.path.isfile(path):
            raise UserError(f'A range plan must be an ordinary file, but {path} is a folder, a device or a pipe; give'
                            ' the name of a file.')  # fmt: skip
        try:
            _replace(os.path.realpath(path), json.dumps(self.to_json(), indent=2) + '\n')
        except OSError as error:
            raise UserError(f'A range plan should be written to {path}, but: {error.strerror or error}; check the'
                            ' folder, its permissions and the free space.') from error  # fmt: skip

    def to_json(self) -> Dict[str, Any]:
        return {
            'format': FORMAT,
            'meaning': 'every tensor of a group is stored as t * 2**-e',
            'headroom_bits': self.headroom_bits,
            'pictures': dict(self.pictures),
            'notes': list(self.notes),
            'networks': {network: dict(groups) for network, groups in self.networks.items()},
        }

    @classmethod
    def load(cls, path: PathLike) -> RangePlan:
        """Reads what `save` wrote; UserError with what is wrong otherwise."""
        try:
            with open(path, encoding='utf-8') as file:
                found = json.load(file)
        except OSError as error:
            raise UserError(f'A range plan was expected at {path}, but it cannot be read ({error.strerror}).') from None
        except (ValueError, RecursionError):
            raise UserError(f'{path} should be a range plan (JSON), but it is not JSON; make one with diagnose.py'
                            ' ranges --save_plan.') from None  # fmt: skip
        return cls._from_json(found, path)

    @classmethod
    def _from_json(cls, found: Any, path: PathLike) -> RangePlan:
        networks = found.get('networks') if isinstance(found, dict) else None
        if not isinstance(networks, dict) or not all(isinstance(groups, dict) for groups in networks.values()):
            raise UserError(f'{path} should be a range plan with "networks": {{network: {{group: exponent}}}}, but it'
                            ' has none; make one with diagnose.py ranges --save_plan.')  # fmt: skip
        if found.get('format', FORMAT) != FORMAT:
            raise UserError(f'{path} is a range plan of format {found["format"]!r}, but this version reads {FORMAT};'
                            ' make it again with diagnose.py ranges --save_plan.')  # fmt: skip
        try:
            notes = tuple(str(note) for note in found.get('notes', ()))
            pictures = {str(network): int(count) for network, count in dict(found.get('pictures', {})).items()}
            headroom_bits = float(found.get('headroom_bits', 1.0))
            if not 0.0 <= headroom_bits <= MOST_HEADROOM:
                raise ValueError(f'headroom_bits {headroom_bits} is not within 0..{MOST_HEADROOM}')
            return cls(networks, headroom_bits, notes, pictures)
        except (TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            if isinstance(error, UserError):
                raise
            raise UserError(f'{path} should be a range plan, but its content is damaged ({error}); make it again with'
                            ' diagnose.py ranges --save_plan.') from None  # fmt: skip


def _replace(target: str, text: str) -> None:
    """Under a temporary name in the same folder first, so that an old plan stays until the new one is complete."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    temporary = os.path.join(os.path.dirname(target), f'.ugatit-{uuid.uuid4().hex}.tmp')
    try:
        with open(temporary, 'w', encoding='utf-8') as file:
            file.write(text)
        os.replace(temporary, target)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)
