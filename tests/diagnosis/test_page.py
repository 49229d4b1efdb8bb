"""Table, plot and page: whole, self-contained, and every tensor in its place."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from typing import List

import pytest

from ugatit.diagnosis.page import page
from ugatit.diagnosis.plot import Drawing, figure, plot, stage_of
from ugatit.diagnosis.report import RangeReport
from ugatit.diagnosis.table import report_text, share, tensor_table
from ugatit.ranges.kinds import SQUARE

SVG = '{http://www.w3.org/2000/svg}'
VOID = ('meta', 'i', 'br')


class _Nesting(HTMLParser):
    """Notes tags that are closed out of order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: List[str] = []
        self.wrong: List[str] = []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        if tag not in ('meta',):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def test_the_figure_is_an_svg_file(report: RangeReport) -> None:
    root = ElementTree.fromstring(figure(report))
    assert root.tag == f'{SVG}svg' and root.get('viewBox')
    bars = [bar for bar in root.iter(f'{SVG}rect') if bar.get('class') in ('r', 'v', 'w', 'x')]
    drawn = [row for row in report.rows if row.range.kind not in (SQUARE, 'wide') and row.range.amax > 0]
    assert len(bars) == 2 * len(drawn)
    assert all(float(bar.get('height')) > 0 for bar in bars)


def test_bars_stand_where_the_numbers_say(report: RangeReport) -> None:
    """65504 at one height in both panels; a bar reaches above it exactly where the tensor overflows there."""
    drawing = Drawing(report.rows)
    root = ElementTree.fromstring(drawing.svg(0, drawing.panels(titles=False), 'generator_B'))
    for panel, after in zip(root.findall(f'{SVG}g'), (False, True)):
        limit = next(float(line.get('y1')) for line in panel.iter(f'{SVG}line') if 'over' in line.get('class'))
        bars = [bar for bar in panel.iter(f'{SVG}rect') if bar.get('class') != 'band']
        rows = [row for row in report.rows if row.range.amax > 0.0]
        assert len(bars) == len(rows)
        for bar, row in zip(bars, rows):
            over = row.overflows_after if after else row.range.overflows
            assert (float(bar.get('y')) < limit + 0.05) == over or abs(float(bar.get('y')) - limit) < 0.1
            assert (bar.get('class') == 'x') == (over and row.range.kind != SQUARE)


def test_hover_names_every_tensor(report: RangeReport) -> None:
    text = plot(report)
    assert all(text.count(f'<title>{row.range.name}\n') == 2 for row in report.rows if row.range.amax > 0.0)


def test_the_page_loads_nothing_and_is_well_formed(report: RangeReport) -> None:
    text = page([report, report])
    assert not re.search(r'(?:src|href)\s*=|url\(|@import|<script|https?://(?!www\.w3\.org/2000/svg)', text)
    parser = _Nesting()
    parser.feed(text)
    assert parser.wrong == [] and parser.open == []
    assert 'width=device-width' in text and 'prefers-color-scheme:dark' in text and '@media print' in text


def test_the_page_says_what_matters(report: RangeReport) -> None:
    text = page([report])
    first = report.findings[0]
    for needed in (first.result.name, 'decoder', 'none</span> with the plan', f'{first.result.max:.8g}'):
        assert needed in text, needed
    assert text.count('<tr>') > len(report.rows)


def test_every_tensor_of_the_network_has_a_stage(report: RangeReport) -> None:
    assert [row.range.name for row in report.rows if not stage_of(row.range.name)] == []


def test_the_terminal_report(report: RangeReport) -> None:
    text = report_text(report, top=5)
    lines = text.splitlines()
    header = next(i for i, line in enumerate(lines) if line.startswith('tensor '))
    assert lines[header + 1].split()[0] == report.worst_first()[0].range.name
    assert lines[header + 6] == ''
    assert 'mixed_float16:' in lines and 'nothing is over 65504' in text and 'decoder' in text


def test_columns_are_aligned(report: RangeReport) -> None:
    lines = tensor_table(report.worst_first()[:30]).splitlines()
    ends = {line.rstrip().rfind(' ') for line in lines}
    assert len({len(line) for line in lines}) == 1 and len(ends) > 1


@pytest.mark.parametrize(('value', 'text'), [(0.0, '0'), (1e-9, '<0.01%'), (0.5, '50.00%'), (1.0, '100.00%')])
def test_share(value: float, text: str) -> None:
    assert share(value) == text


@pytest.mark.parametrize('planned', [False, True])
def test_one_panel_alone_is_that_panel_of_both(report: RangeReport, planned: bool) -> None:
    def bars(panels: tuple) -> list:
        return re.findall(r'<rect class="[rvwqx]"[^>]*>', plot(report, panels))

    both, alone = bars((False, True)), bars((planned,))
    assert alone == (both[len(both) // 2 :] if planned else both[: len(both) // 2])
    assert bars((False,)) != bars((True,))
