"""`python diagnose.py device` as typed, and through the stand-in of an NPU."""

from __future__ import annotations

import json
import pathlib
from typing import Any, Dict

import pytest

from tests.runners.npu_support import a2_fixture, adapter_fixture  # noqa: F401
from ugatit.cli.commands import device
from ugatit.cli.main import run
from ugatit.diagnosis.device.known import KNOWN
from ugatit.nn.policy import PRECISIONS


def _typed(*words: str) -> int:
    return run(device.COMMAND.main, device.FLAGS, list(words))


def test_names_of_flags_are_the_librarys() -> None:
    assert device.KNOWN == tuple(KNOWN)
    assert set(device.ON_NPU) == set(PRECISIONS) and set(device.ON_NPU.values()) <= set(KNOWN)


def test_the_card_of_an_emulated_device(capsys: pytest.CaptureFixture, tmp_path: pathlib.Path) -> None:
    path = tmp_path / 'card.json'
    assert _typed('--emulate=ascend910', '--assume=ascend910', '--fail_on_difference', f'--json={path}') == 0
    out = capsys.readouterr().out
    assert 'This is ascend910' in out and 'ascend910: every assumption holds.' in out
    found = json.loads(path.read_text())
    assert found['readings']['overflow']['answer'] == 'saturates at 65504' and found['assumed'] == {'ascend910': []}


def test_exit_code_3_where_an_assumption_is_wrong(capsys: pytest.CaptureFixture) -> None:
    assert _typed('--device=cpu', '--assume=ascend910', '--fail_on_difference') == 3
    assert 'ascend910 assumes' in capsys.readouterr().out


@pytest.mark.parametrize(
    ('words', 'says'),
    [
        (['--emulate=ascend920'], 'expected float32, tf32'),
        (['--assume=910'], 'expected float32, tf32'),
        (['--device=cpu', '--npu_option=deterministic=1'], '--npu_option belongs to --device=npu'),
        (['--precision=fp16'], 'expected float32, mixed_float16'),
        (['now'], 'expected only flags'),
    ],
)
def test_a_mistake_is_one_sentence(words: list, says: str, capsys: pytest.CaptureFixture) -> None:
    assert _typed(*words) == 2
    assert says in capsys.readouterr().err


def _card(path: pathlib.Path, *words: str) -> Dict[str, Any]:
    assert _typed('--device=npu', f'--json={path}', *words) == 0
    return json.loads(path.read_text())


def test_the_stand_in_of_a_910_is_what_the_emulation_assumes(
    adapter: Any, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture
) -> None:
    """Two programs that were written apart from the same documents: `Policy`, and the stand-in."""
    found = _card(tmp_path / 'card.json')
    assert found['assumed'] == {'ascend910': []}, found['assumed']
    assert 'ascend910: every assumption holds.' in capsys.readouterr().out


def test_a_910_without_float32_convolutions(adapter: Any, tmp_path: pathlib.Path) -> None:
    found = _card(tmp_path / 'card.json', '--precision=float32')
    assert found['readings']['conv_operands']['answer'] == 'fails'
    assert 'conv_operands' in [row['key'] for row in found['assumed']['float32']]


def test_an_a2_in_float16_gives_infinity(a2: Any, tmp_path: pathlib.Path) -> None:
    found = _card(tmp_path / 'card.json')
    assert found['readings']['overflow']['answer'] == 'infinity'
    assert [row['key'] for row in found['assumed']['ascend910']] == ['overflow', 'overflow_status', 'infinity', 'nan',
                                                                     'gradient_to_input']  # fmt: skip
