"""What the page says, as HTML: sentences for people who meet float16 for the first time."""

from __future__ import annotations

import html
import math
from typing import Iterable, List, Tuple

from ugatit.diagnosis.page import key
from ugatit.diagnosis.plot import plot
from ugatit.diagnosis.report import Row
from ugatit.inference.inputs import Prepared
from ugatit.numerics import FLOAT16
from ugatit.ranges.kinds import SQUARE
from ugatit.web.difference import MOST, RAMP, place_of
from ugatit.web.lab import Compared
from ugatit.web.models import Arithmetic

_VISIBLE, _SUBTLE = 30.0, 48.0  # dB: below the first a wrong picture, from the second on nobody sees a difference


def refused(text: str) -> str:
    """Why there is no result, where the result would stand."""
    return f'<p class="say bad" role="alert">{html.escape(text)}</p>'


def hint(text: str) -> str:
    """What to do first."""
    return f'<p class="say soft">{html.escape(text)}</p>'


def status(name: str, prepared: Prepared, line: str, seconds: float) -> str:
    """One line about the picture, one about the model, and what had to be guessed."""
    height, width = prepared.geometry.input_size
    side = prepared.square.shape[0]
    seen = f'{html.escape(name)}: {width} × {height} pixels, seen by the network as {side} × {side}'
    return f'<p class="say">{seen}; {seconds:.1f} s.</p>{_notes(prepared.warnings)}<p class="soft">{_plain(line)}</p>'


def verdict(found: Compared) -> str:
    """The PSNR in large, and what it means."""
    figure, kind, meaning = _meaning(found)
    return (
        f'<div class="verdict {kind}"><b>{figure}</b><span>{meaning}</span></div>'
        '<p class="soft">PSNR of the network&rsquo;s output against the loaded checkpoint in float32.</p>'
    )


def ranges(found: Compared, arithmetic: Arithmetic, measured_on: str) -> str:
    """What overflows under this arithmetic, in a sentence and in the plot."""
    shown = plot(found.report, (arithmetic.planned,))
    more = ''
    if arithmetic.planned:
        more = f'<p class="soft">The plan was made of {html.escape(measured_on)}, not of this picture.</p>'
    squares = '' if _squares(arithmetic) else ' Squared differences stay float32 in this arithmetic.'
    return (
        f'<p class="say">{_sentence(found, arithmetic)}</p>{more}{key()}<div class="wide">{shown}</div>'
        '<p class="soft">One bar per tensor in order of execution, from its root mean square to its largest absolute'
        f' value, for this picture. Point at a bar for its name and numbers.{squares}</p>'
    )


def scale() -> str:
    """The legend of the difference map."""
    stops = ', '.join(f'rgb{colour}' for colour in RAMP)
    marks = ((1 / 4, '&frac14;'), (1, '1'), (4, '4'), (16, '16'), (64, '64'), (2**MOST, '255'))
    ticks = ''.join(f'<span style="left:{100 * place_of(levels):.1f}%">{text}</span>' for levels, text in marks)
    return (
        f'<div class="scale-bar" style="background:linear-gradient(90deg, {stops})"></div><div class="ticks">{ticks}'
        '</div><p class="soft">Difference in levels of 255, largest of the three colours. Black: less than a sixteenth'
        ' of a level.</p>'
    )


def _meaning(found: Compared) -> Tuple[str, str, str]:
    """(figure, class, sentence)."""
    lost, values = found.lost
    if lost:
        return 'no picture', 'bad', f'{lost} of {values} values are NaN or infinity; they are drawn black.'
    if math.isinf(found.decibels):
        return 'the same bits', 'good', 'Every value equals float32&rsquo;s, bit for bit.'
    figure = f'{found.decibels:.1f} dB'
    if found.decibels >= _SUBTLE:
        return figure, 'good', 'Nobody sees a difference: what float16&rsquo;s 11 bits cost.'
    if found.decibels >= _VISIBLE:
        return figure, 'soft', 'Small differences; look at the map.'
    return figure, 'bad', 'A wrong picture, though nothing in it is NaN: comparing is the only way to notice.'


def _sentence(found: Compared, arithmetic: Arithmetic) -> str:
    rows = [row for row in found.report.rows if row.range.kind != SQUARE or _squares(arithmetic)]
    over = [row for row in rows if (row.overflows_after if arithmetic.planned else row.range.overflows)]
    largest = max(rows, key=lambda row: row.amax_after if arithmetic.planned else row.range.amax)
    if arithmetic.planned:
        deepest = max(found.report.exponents.values(), default=0)
        done = f'Stored times powers of two down to 2<sup>&minus;{deepest}</sup>' if deepest else 'Nothing to scale'
        left = f'{_count(over)} still pass 65504' if over else f'everything fits: the largest is {_of(largest, True)}'
        return f'{done}, {left}.'
    if not over:
        return f'All {len(rows)} tensors fit float16; the largest is {_of(largest, False)}.'
    passed = f'{_count(over)} of {len(rows)} pass 65504, where float16 ends; the first is {_of(over[0], False)}.'
    if arithmetic.kind == 'float32':
        return f'{passed} float32 has room for them.'
    becomes = 'They are cut off there' if arithmetic.overflow == 'saturate' else 'They become infinity, and soon NaN'
    return f'{passed} {becomes}.'


def _of(row: Row, planned: bool) -> str:
    reach = row.amax_after if planned else row.range.amax
    share = f', {reach / FLOAT16.max_finite:.3g} times that' if reach > FLOAT16.max_finite else ''
    return f'<code>{html.escape(row.range.name)}</code> with {_amount(reach)}{share}'


def _amount(value: float) -> str:
    return f'{value:,.0f}' if 1e3 <= value < 1e15 else f'{value:.4g}'


def _squares(arithmetic: Arithmetic) -> bool:
    """Whether squared differences are float16 as well."""
    return arithmetic.policy().vector_format is FLOAT16


def _count(rows: List[Row]) -> str:
    return '1 tensor' if len(rows) == 1 else f'{len(rows)} tensors'


def _notes(warnings: Iterable[str]) -> str:
    return ''.join(f'<p class="say note">{html.escape(warning)}</p>' for warning in warnings)


def _plain(line: str) -> str:
    return html.escape(line[:1].upper() + line[1:])
