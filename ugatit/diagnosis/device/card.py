"""The card: what a device shows, which known arithmetic is nearest, and where an assumption is wrong."""

from __future__ import annotations

import functools
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple

from ugatit.diagnosis.device.experiments import EXPERIMENTS, Reading, measure
from ugatit.diagnosis.device.known import KNOWN
from ugatit.errors import UserError

WIDTH = max(len(experiment.question) for experiment in EXPERIMENTS)


class Difference(NamedTuple):
    """Something that the emulation assumes and the device does not show."""

    key: str
    question: str
    assumed: str
    shown: str

    def sentence(self, name: str) -> str:
        return f'{self.question}: {name} assumes {self.assumed!r}; this device shows {self.shown!r}'


class Card(NamedTuple):
    """A device's readings beside those of everything that can be emulated."""

    device: str
    readings: List[Reading]
    known: Mapping[str, List[Reading]]

    def differences(self, name: str) -> List[Difference]:
        """Where the device is not what `name` assumes; empty if it is."""
        shown = {reading.key: reading for reading in self.readings}
        return [
            Difference(assumed.key, assumed.question, assumed.answer, shown[assumed.key].answer)
            for assumed in self.known[name]
            if assumed.key in shown and assumed.answer != shown[assumed.key].answer
        ]

    def nearest(self) -> Tuple[str, int]:
        """(name, number of answers that differ) of the arithmetic that explains most."""
        name = min(self.known, key=lambda known: len(self.differences(known)))
        return name, len(self.differences(name))

    def answer(self, key: str) -> str:
        """One reading's answer, '' where it was not measured."""
        return next((reading.answer for reading in self.readings if reading.key == key), '')

    def to_json(self, assumed: Sequence[str]) -> Dict[str, Any]:
        nearest, differing = self.nearest()
        return {
            'device': self.device,
            'readings': {reading.key: reading.to_json() for reading in self.readings},
            'nearest': {'name': nearest, 'summary': KNOWN[nearest].summary, 'differing': differing},
            'assumed': {
                name: [difference._asdict() for difference in self.differences(name)] for name in assumed
            },
            'advice': advice(self),
        }  # fmt: skip


@functools.cache
def assumptions(names: Tuple[str, ...] = tuple(KNOWN)) -> Dict[str, List[Reading]]:
    """The readings of emulated devices. Take them before an NPU is opened, which replaces TensorFlow's functions."""
    for name in names:
        if name not in KNOWN:
            raise UserError(f'an emulated device is one of {", ".join(KNOWN)}, but {name!r} arrived; choose one.')
    return {name: measure(KNOWN[name].arithmetic()) for name in names}


def card_text(card: Card, assumed: Sequence[str]) -> str:
    """For people: questions and answers, the nearest arithmetic, differences, and what follows for a network."""
    lines = [card.device, '']
    for reading in card.readings:
        lines.append(f'  {reading.question:{WIDTH}}  {reading.answer}')
        if 'error' in reading.numbers:
            lines.append(f'  {"":{WIDTH}}  {reading.numbers["error"]}')
    name, differing = card.nearest()
    nearest = 'exactly' if not differing else f'except for {differing} of {len(card.known[name])} answers'
    lines += ['', f'This is {name} ({KNOWN[name].summary}), {nearest}.']
    for wanted in assumed or ([name] if differing else []):
        differences = card.differences(wanted)
        if not differences:
            lines += ['', f'{wanted}: every assumption holds.']
        else:
            lines += ['', *(difference.sentence(wanted) for difference in differences)]
    return '\n'.join([*lines, *([''] if advice(card) else []), *advice(card)])


def advice(card: Card) -> List[str]:
    """What the readings mean for someone who runs this network."""
    said = []
    if card.answer('conv_operands') == 'float16' or card.answer('conv_results') == 'float16':
        said.append('Values beyond 65504 do not survive a convolution here: use --ranges=auto.')
    if card.answer('conv_operands') in ('TF32', 'HF32', 'bfloat16'):
        said.append(f'Convolutions are not float32 here but {card.answer("conv_operands")}: range is no problem, but'
                    ' results differ from a CPU\'s in the third digit.')  # fmt: skip
    if card.answer('overflow') == 'saturates at 65504':
        said.append('An overflow shows as 65504 and never as infinity or NaN: compare values, not finiteness.')
    if card.answer('squares') not in ('reaches 90000', 'fails', ''):
        said.append('Squared differences overflow: use --variants=prescaled, or black-list the operators.')
    if card.answer('reflect_padding') not in ('works', ''):
        said.append('Reflect padding needs --reflect_pad=slices here.')
    if card.answer('determinism') == 'other bits':
        said.append('A resumed run will not have the bits of one that was never stopped.')
    return said
