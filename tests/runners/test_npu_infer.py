"""Translating on an NPU, through the stand-in of the adapter: `ugatit.load`, and infer.py as typed."""

from __future__ import annotations

import pathlib
import runpy
from typing import Any, List, Tuple

import numpy as np
import pytest
from PIL import Image

from tests import npu_stub, tolerances
from tests.conftest import REPOSITORY
from tests.inference.tiny import SIZE, write_tiny
from tests.runners.npu_support import adapter_fixture, supported  # noqa: F401
from ugatit.checkpoints.folding import fold_exponents
from ugatit.cli.main import run
from ugatit.errors import UserError
from ugatit.numerics import psnr
from ugatit.planning import plan_ranges, profile_ranges
from ugatit.translate import load

MIXED = {'precision': 'mixed_float16', 'overflow': 'saturate'}


@pytest.fixture
def overflowing(tmp_path: pathlib.Path) -> pathlib.Path:
    """A tiny checkpoint whose decoder passes 65504."""
    write_tiny(tmp_path / 'healthy')
    fold_exponents(tmp_path / 'healthy', {'generator_B': {'decoder': -20, 'up_conv_0': -18}}, tmp_path / 'checkpoint')
    return tmp_path / 'checkpoint'


def _pictures(count: int = 2) -> np.ndarray:
    return np.random.RandomState(3).uniform(-1, 1, [count, SIZE, SIZE, 3]).astype(np.float32)


def test_a_plan_cures_what_the_device_destroys(adapter: Any, overflowing: pathlib.Path) -> None:
    images = _pictures()
    exact = load(overflowing, device='cpu')
    plan = plan_ranges(exact, profile_ranges(exact, images))
    expected = exact(images).image
    broken, cured = (load(overflowing, device='npu', ranges=ranges, **MIXED)(images).image for ranges in (None, plan))
    assert psnr(broken, expected) < tolerances.BROKEN_PICTURE_DB
    emulated = load(overflowing, device='cpu', ranges=plan, **MIXED)(images).image
    assert psnr(cured, expected) > psnr(emulated, expected) - tolerances.FLOOR_DB


def test_shapes_are_static(adapter: Any, overflowing: pathlib.Path) -> None:
    translate = load(overflowing, device='npu', **MIXED)
    translate(_pictures(1))
    translate(_pictures(2))
    assert sorted(translate._programs) == [(1, SIZE, SIZE), (2, SIZE, SIZE)]
    assert len(load(overflowing, device='cpu')._programs) == 0


def test_measuring_on_a_device_that_rounds_is_refused(adapter: Any, overflowing: pathlib.Path) -> None:
    with pytest.raises(UserError, match='A range profile needs float32, but this device rounds'):
        profile_ranges(load(overflowing, device='npu', **MIXED), _pictures())
    swapped = load(overflowing, device='npu', variants='batch_swap', **MIXED)
    with pytest.raises(UserError, match='this device cannot measure them in float32'):
        swapped(_pictures())


def _typed(*words: str) -> int:
    script = runpy.run_path(str(REPOSITORY / 'infer.py'))
    return run(script['main'], script['FLAGS'], list(words), needs_tensorflow=False)


def _command(tmp_path: pathlib.Path, checkpoint: pathlib.Path) -> Tuple[List[str], pathlib.Path]:
    photo = tmp_path / 'photo.png'
    Image.fromarray(((_pictures(1)[0] + 1) * 127.5).astype(np.uint8)).save(photo)
    words = [f'--checkpoint={checkpoint}', str(photo), f'--output={tmp_path / "out"}', '--arrays']
    return words, tmp_path / 'out' / 'photo_a2b.npy'


def test_infer_plans_on_the_cpu_and_translates_on_the_npu(
    overflowing: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    supported(monkeypatch)
    words, array = _command(tmp_path, overflowing)
    assert _typed(*words, '--device=cpu') == 0
    exact = np.load(array)
    found, told = [], []
    for ranges in ('none', 'auto'):
        capsys.readouterr()
        with npu_stub.installed() as adapter:  # each time a new process, as far as the adapter is concerned
            assert _typed(*words, '--device=npu', '--precision=mixed_float16', '--overflow=saturate',
                          f'--dump={tmp_path / "dump"}', '--npu_option=graph_memory_max_size=17179869184',
                          f'--ranges={ranges}') == 0  # fmt: skip
        found.append(np.load(array))
        told.append(capsys.readouterr().err)
    assert 'expect wrong pictures; --ranges=auto cures it' in told[0] and 'range groups scaled' in told[1]
    for text in told:
        assert 'graph_memory_max_size: accepted without effect' in text and 'mixed_float16 saturate' in text
    broken, cured = (psnr(array, exact) for array in found)
    assert broken < tolerances.BROKEN_PICTURE_DB and cured > tolerances.NATIVE_DB
    assert adapter.options.changed() == {
        'precision_mode': 'allow_fp32_to_fp16', 'deterministic': 1, 'enable_dump': True, 'dump_mode': 'all',
        'dump_step': '0', 'dump_path': str(tmp_path / 'dump'),
    }  # fmt: skip


@pytest.mark.parametrize(
    ('words', 'says'),
    [
        (['--device=cpu', '--dump=x'], '--dump belongs to --device=npu'),
        (['--device=cpu', '--detect_overflow=x'], '--detect_overflow belongs to --device=npu'),
        (['--device=cpu', '--reflect_pad=mirror'], '--reflect_pad belongs to --device=npu'),
        (['--device=npu', '--dump=x', '--detect_overflow=y'], '--dump and --detect_overflow exclude each other'),
        (['--device=npu', '--npu_option=deterministik=1'], 'did you mean deterministic?'),
        (['--device=npu', '--npu_option=precision_mode=force_fp16'], 'it is what precision float16 asks for'),
        (['--reflect_pad=reflect'], 'expected slices or mirror'),
    ],
)
def test_a_mistake_is_one_sentence(
    adapter: Any, words: List[str], says: str, overflowing: pathlib.Path, tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert _typed(*_command(tmp_path, overflowing)[0], *words) == 2
    told = capsys.readouterr().err
    assert says in told and 'Traceback' not in told and not (tmp_path / 'out').exists()


@pytest.mark.slow
def test_a_golden_overflow_checkpoint(adapter: Any, golden: pathlib.Path) -> None:
    """The reported case in small: the official code's own pictures, with and without a plan. (The full model's passes
    too, and takes as long again.)"""
    name = 'overflow_light_i64_c16'
    checkpoint = golden / 'checkpoints' / name
    with np.load(golden / 'outputs' / f'{name}.npz') as recorded:
        images = np.concatenate([recorded[f'in/x_A/{i}'] for i in range(3)])
    exact = load(checkpoint, device='cpu', image_size=64)
    expected, plan = exact(images).image, plan_ranges(exact, profile_ranges(exact, images))
    floor = psnr(np.asarray(exact.twin(load(checkpoint, device='cpu', image_size=64, **MIXED).policy.floor())(images)
                            .image), expected)  # fmt: skip
    broken, cured = (
        load(checkpoint, device='npu', ranges=ranges, image_size=64, **MIXED)(images).image for ranges in (None, plan)
    )
    assert psnr(broken, expected) < tolerances.BROKEN_PICTURE_DB
    assert psnr(cured, expected) > floor - tolerances.FLOOR_DB
