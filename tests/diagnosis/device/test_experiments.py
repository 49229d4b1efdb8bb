"""The experiments tell arithmetics apart: each answer is checked on a device whose arithmetic is made for it."""

from __future__ import annotations

from typing import Dict, List

import numpy as np
import pytest
import tensorflow as tf

from tests.conftest import REPOSITORY
from tests.diagnosis.device.documented import table
from ugatit.diagnosis.device import sums
from ugatit.diagnosis.device.arithmetic import Arithmetic
from ugatit.diagnosis.device.card import Card, advice, assumptions, card_text
from ugatit.diagnosis.device.experiments import EXPERIMENTS, Reading, measure
from ugatit.diagnosis.device.known import HF32, KNOWN, TF32
from ugatit.errors import UserError
from ugatit.numerics import round_to_numpy
from ugatit.runners import open_runner


@pytest.fixture(scope='module')
def known() -> Dict[str, List[Reading]]:
    return assumptions()


@pytest.fixture(scope='module')
def cpu() -> List[Reading]:
    return measure(Arithmetic(open_runner('cpu')))


def _answers(readings: List[Reading]) -> Dict[str, str]:
    return {reading.key: reading.answer for reading in readings}


def test_the_cpu_is_float32_and_nothing_else(cpu: List[Reading], known: Dict[str, List[Reading]]) -> None:
    card = Card('cpu', cpu, known)
    assert card.nearest() == ('float32', 0)
    assert [name for name in known if not card.differences(name)] == ['float32']


def test_every_emulated_device_is_itself_and_no_other(known: Dict[str, List[Reading]]) -> None:
    for name, readings in known.items():
        card = Card(name, readings, known)
        assert [other for other in known if not card.differences(other)] == [name]


@pytest.mark.parametrize(
    ('name', 'answers'),
    [
        ('float32', {'conv_operands': 'float32', 'conv_operand_rounding': 'exact', 'overflow': 'none: 2**20 is kept'}),
        ('tf32', {'conv_operands': 'TF32', 'conv_results': 'float32', 'nan': 'kept'}),
        ('hf32', {'conv_operands': 'HF32', 'matmul_operands': 'float32', 'conv_accumulator': 'float32'}),
        ('bfloat16', {'conv_operands': 'bfloat16', 'conv_results': 'bfloat16', 'overflow': 'none: 2**20 is kept'}),
        ('ascend910', {'conv_operands': 'float16', 'conv_results': 'float16', 'conv_accumulator': 'float32',
                       'overflow': 'saturates at 65504', 'nan': 'becomes 0', 'infinity': 'becomes 65504',
                       'overflow_status': 'raised by overflow only', 'squares': 'reaches 90000', 'vector': 'float32',
                       'gradient_to_input': 'saturates at 65504', 'gradient_to_kernel': 'reaches 2**20'}),
        ('ascend910_force_fp16', {'squares': 'saturates at 65504', 'vector': 'float16'}),
        ('float16_operands', {'conv_operands': 'float16', 'conv_results': 'float32'}),
        ('mixed_float16', {'overflow': 'infinity', 'nan': 'kept', 'squares': 'reaches 90000'}),
        ('float16', {'overflow': 'infinity', 'squares': 'infinity', 'vector': 'float16'}),
    ],
)  # fmt: skip
def test_what_is_found(known: Dict[str, List[Reading]], name: str, answers: Dict[str, str]) -> None:
    found = _answers(known[name])
    assert {key: found[key] for key in answers} == answers


def test_the_cpus_own_formats(cpu: List[Reading]) -> None:
    """2.6.5 has no kernel for bfloat16, whose result is empty, and adds float16 in float16 in 1x1 convolutions."""
    found = _answers(cpu)
    old = tf.__version__.startswith('2.6')
    assert found['explicit_float16'] == ('works, adds narrowly' if old else 'works, adds widely')
    assert found['explicit_bfloat16'] == ('fails' if old else 'works, adds widely')
    assert (found['reflect_padding'], found['determinism']) == ('works', 'the same bits')


class _Altered(Arithmetic):
    """A CPU with one thing done differently."""

    def __init__(self) -> None:
        super().__init__(open_runner('cpu'))


class _CutOff(_Altered):
    """Operands lose their last 12 bits instead of being rounded."""

    def conv(self, x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        def cut(value: tf.Tensor) -> tf.Tensor:
            return tf.bitcast(tf.bitwise.bitwise_and(tf.bitcast(value, tf.int32), -(2**13)), tf.float32)

        return tf.nn.conv2d(cut(x), cut(kernel), 1, 'VALID')


def test_cutting_off_is_told_from_rounding() -> None:
    assert sums.rounding_of_operands(_CutOff(), 11) == 'cut off'
    assert sums.rounding_of_operands(KNOWN['tf32'].arithmetic(), 11) == 'nearest, ties to even'


class _NarrowSum(_Altered):
    """Adds channel after channel in float16."""

    def conv(self, x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        total = tf.zeros([], tf.float16)
        for channel in range(x.shape[-1]):
            product = tf.cast(x[..., channel, None], tf.float16) * tf.cast(kernel[0, 0, channel], tf.float16)
            total = total + product
        return tf.cast(total, tf.float32)


def test_a_narrow_accumulator_is_seen() -> None:
    arithmetic = _NarrowSum()
    assert sums.accumulator_bits(arithmetic) == 11 and not sums.accumulator_reaches(arithmetic)
    wide = KNOWN['ascend910'].arithmetic()
    assert sums.accumulator_bits(wide) == 24 and sums.accumulator_reaches(wide)


class _Empty(_Altered):
    """What TensorFlow 2.6.5 does with bfloat16, eagerly."""

    def conv(self, x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        return tf.zeros([0, 1, 1, kernel.shape[-1]])


class _Broken(_Altered):
    """A 910 in must_keep_origin_dtype."""

    def conv(self, x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        raise RuntimeError('Conv2D: no kernel')


def test_an_empty_result_is_told() -> None:
    answers = _answers(measure(_Empty()))
    assert answers['conv_operands'].startswith('gives 0 values where') and answers['matmul_operands'] == 'float32'


def test_a_device_that_cannot_convolve_gets_a_card_all_the_same(known: Dict[str, List[Reading]]) -> None:
    readings = measure(_Broken())
    broken = next(reading for reading in readings if reading.key == 'conv_operands')
    assert broken.answer == 'fails' and broken.numbers == {'error': 'RuntimeError: Conv2D: no kernel'}
    text = card_text(Card('broken', readings, known), ['ascend910'])
    assert 'RuntimeError: Conv2D: no kernel' in text
    assert "multiplies: ascend910 assumes 'float16'; this device shows 'fails'" in text


def test_differences_are_sentences(cpu: List[Reading], known: Dict[str, List[Reading]]) -> None:
    card = Card('cpu', cpu, known)
    text = card_text(card, ['ascend910'])
    assert 'This is float32 (a CPU, or a GPU with TF32 switched off), exactly.' in text
    assert ("a result beyond 65504 becomes: ascend910 assumes 'saturates at 65504'; this device shows"
            " 'none: 2**20 is kept'") in text  # fmt: skip
    assert 'every assumption holds' in card_text(card, ['float32'])
    assert advice(card) == []


def test_advice_follows_from_answers(known: Dict[str, List[Reading]]) -> None:
    def said(name: str) -> str:
        return ' '.join(advice(Card(name, known[name], known)))

    assert '--ranges=auto' in said('ascend910') and 'never as infinity' in said('ascend910')
    assert '--variants=prescaled' in said('ascend910_force_fp16') and '--variants=prescaled' not in said('ascend910')
    assert 'not float32 here but TF32' in said('tf32') and '--ranges' not in said('tf32')


def test_json_has_words_for_what_json_lacks(known: Dict[str, List[Reading]]) -> None:
    found = Card('x', known['mixed_float16'], known).to_json(['ascend910'])
    assert found['readings']['overflow']['numbers'] == {'2**10 * 2**10': 'inf'}
    assert found['readings']['nan']['numbers'] == {'result': 'nan'}
    assert found['nearest'] == {'name': 'mixed_float16', 'summary': KNOWN['mixed_float16'].summary, 'differing': 0}
    assert 'overflow' in [row['key'] for row in found['assumed']['ascend910']]


def test_every_experiment_has_its_own_key_and_question() -> None:
    assert len({experiment.key for experiment in EXPERIMENTS}) == len(EXPERIMENTS) == 22
    assert len({experiment.question for experiment in EXPERIMENTS}) == len(EXPERIMENTS)


def test_formats_of_19_and_20_bits() -> None:
    """TF32 has 11 significant bits, HF32 12, both the range of float32."""
    value = np.array([1.0 + 2.0**-11, 1.0 + 2.0**-10, 1e30], np.float32)
    assert round_to_numpy(value, TF32)[0] == 1.0 and round_to_numpy(value, TF32)[1] == value[1]
    assert round_to_numpy(value, HF32)[0] == value[0] and np.isfinite(round_to_numpy(value, HF32)[2])


def test_an_unknown_emulated_device_is_refused() -> None:
    with pytest.raises(UserError, match='an emulated device is one of float32, tf32'):
        assumptions(('ascend920',))


def test_the_documented_cards(known: Dict[str, List[Reading]]) -> None:
    text = (REPOSITORY / 'docs' / 'ascend.md').read_text('utf-8').partition('<!-- cards -->\n')[2]
    assert text.partition('\n\n')[0] == table(known)
