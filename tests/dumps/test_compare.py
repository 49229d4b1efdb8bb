"""Two dumps compared end to end: graphs chosen, operators paired, the first bad one named, nothing dropped."""

from __future__ import annotations

import csv
import io
import json
import pathlib
import shutil
from typing import Dict, List

import numpy as np
import pytest

from tests.dumps.made import npu_file, reference
from tests.tolerances import DUMP_METRIC, DUMP_METRIC_RELATIVE
from ugatit.dumps.capture import Capture, write_npy
from ugatit.dumps.compare import Comparison, compare
from ugatit.dumps.fake_npu import INITIAL, TRAINING, VALIDATION, npu_nodes, write_tree
from ugatit.dumps.matching import choose, listing
from ugatit.dumps.summary import passed, summary
from ugatit.dumps.table import HEADER, cells, csv_text
from ugatit.dumps.tree import scan
from ugatit.dumps.writer import Tensor
from ugatit.errors import UserError


@pytest.fixture(scope='module')
def compared(npu: pathlib.Path, npy: pathlib.Path) -> Comparison:
    return compare(scan(npu), scan(npy))


def _validation(npu: pathlib.Path) -> pathlib.Path:
    return next(npu.rglob(f'{VALIDATION}/*/0'))


def test_three_graphs_are_told_apart(npu: pathlib.Path, npy: pathlib.Path) -> None:
    left = scan(npu)
    kinds = {graph.model: graph.kind() for graph in left.graphs}
    assert kinds[VALIDATION].startswith('validation: generator_B alone, no generator_A, no discriminator')
    assert kinds[TRAINING].startswith('training: discriminator_A, discriminator_B, generator_A, generator_B')
    assert kinds[INITIAL].startswith('initialisation')
    assert choose(left, scan(npy))[0].model == VALIDATION
    assert choose(left, scan(npy), TRAINING)[0].model == TRAINING
    assert 'validation' in listing(left)


def test_without_compiled_graphs_names_suffice(npu: pathlib.Path, npy: pathlib.Path, tmp_path: pathlib.Path) -> None:
    shutil.copytree(npu, tmp_path / 'npu', ignore=shutil.ignore_patterns('ge_proto*', 'trans_*', '*.trans_*'))
    comparison = compare(scan(tmp_path / 'npu'), scan(npy))
    assert comparison.matching.left.model == VALIDATION
    assert comparison.verdict.cause in ('cast', 'overflow')
    assert 'first bad operator: generator_B/' in comparison.verdict.sentence


def _read_in_float16(folder: pathlib.Path, compiled: bool) -> Comparison:
    """A float32 value beyond float16, and a convolution that reads it; the cast between them was not dumped."""
    large, half = np.array([1.0, 70000.0, -2.0, 3.0], np.float32), np.array([1.0, 65504.0, -2.0, 3.0], np.float16)
    left, right = folder / 'm' / '1' / '0', folder / 'right'
    for place in (left, right):
        place.mkdir(parents=True)
    npu_file(left / 'Relu.g_Relu.1.3.100', [Tensor(large)], name='g/Relu')
    npu_file(left / 'Conv2D.g_conv_Conv2D.2.3.101', [Tensor(half / 4)], [Tensor(half)], name='g/conv/Conv2D')
    np.save(right / 'g_Relu.0.100.npy', large)
    np.save(right / 'g_conv_Conv2D.0.101.npy', large / 3)
    if compiled:
        text = (
            'graph { name: "m"\n op { name: "g/Relu" type: "Relu" }\n'
            ' op { name: "cast" type: "Cast" input: "g/Relu:0" }\n'
            ' op { name: "g/conv/Conv2D" type: "Conv2D" input: "cast:0" }\n}'
        )
        (folder / 'ge_proto_00001_m_Build.txt').write_text(text)
    return compare(scan(folder / 'm', folder if compiled else None), scan(right))


def test_a_cast_that_was_not_dumped_shows_in_the_input_of_its_reader(tmp_path: pathlib.Path) -> None:
    verdict = _read_in_float16(tmp_path, compiled=True).verdict
    assert (verdict.cause, verdict.operator) == ('cast', 'g/conv/Conv2D')
    assert 'its float16 input from g/Relu is saturated at 65504 in 25 % of elements, where the right side reaches' \
           ' 70000' in verdict.sentence  # fmt: skip


def test_and_without_a_compiled_graph_too(tmp_path: pathlib.Path) -> None:
    verdict = _read_in_float16(tmp_path, compiled=False).verdict
    assert (verdict.cause, verdict.operator) == ('cast', 'g/conv/Conv2D')
    assert 'its float16 input 0 stands at 65504 in 25 % of elements' in verdict.sentence


def test_several_graphs_that_fit_alike_are_listed(npu: pathlib.Path, tmp_path: pathlib.Path) -> None:
    place = _validation(npu)
    for model in ('one', 'two'):
        shutil.copytree(place, tmp_path / 'npu' / model / '1' / '0')
    with pytest.raises(UserError, match=r'choose one with --graph=NAME:(.|\n)*one(.|\n)*two'):
        choose(scan(tmp_path / 'npu'), scan(place))
    assert choose(scan(tmp_path / 'npu'), scan(place), 'two')[0].model == 'two'
    with pytest.raises(UserError, match='no dumped graph is called'):
        choose(scan(tmp_path / 'npu'), scan(place), 'three')


def test_nothing_in_common(npy: pathlib.Path, tmp_path: pathlib.Path) -> None:
    np.save(tmp_path / 'other_Conv2D.0.1629880658.npy', np.zeros(3))
    with pytest.raises(UserError, match='no operator in common'):
        compare(scan(tmp_path), scan(npy))


def test_the_first_overflow_is_named(compared: Comparison, saturated: Capture) -> None:
    """By a search of its own through the made-up graph: the first float16 value at 65504."""
    first = next(node for node in npu_nodes(saturated) if node.gives.values.dtype == np.float16
                 and np.abs(node.gives.values).max() >= 65504)  # fmt: skip
    assert compared.verdict.operator == first.name
    assert compared.verdict.cause in ('cast', 'overflow')
    sentence = summary(compared).splitlines()[0]
    assert sentence.startswith('first bad operator: ') and sentence.endswith('float16 overflow here.')
    assert 'inputs agree to' in sentence and 'saturated at 65504 in' in sentence


def test_every_number_equals_float64(compared: Comparison, exact: Capture) -> None:
    """The sheet against whole arrays, read with nothing of the reader: from the run itself."""
    truths = {tensor.name.replace('/', '_'): tensor.values for tensor in exact.outputs()}
    assert len(compared.compared) > 100
    for row, pair in zip(compared.rows, compared.matching.pairs):
        left = pair.left.open().array()
        wanted = reference(left, truths[pair.truth[0]])
        for key, value in wanted.items():
            wanted_value = pytest.approx(value, rel=DUMP_METRIC_RELATIVE, abs=DUMP_METRIC, nan_ok=True)
            assert getattr(row.metrics, key) == wanted_value, (row, key)


def test_what_the_npu_file_holds_is_what_was_stored(compared: Comparison, saturated: Capture) -> None:
    values = {tensor.name: tensor.values for tensor in saturated.outputs()}
    checked = 0
    for pair in compared.matching.pairs:
        if pair.relation == 'same' and pair.operator.name in values:
            assert np.array_equal(pair.left.open().array(), values[pair.operator.name]), pair.operator.name
            checked += 1
    assert checked > 100


def test_nothing_is_dropped(compared: Comparison, npy: pathlib.Path) -> None:
    matching = compared.matching
    rights = {pair.truth[0] for pair in matching.pairs} | {alone.name for alone in matching.right_alone}
    assert rights == set(matching.right.operators)
    lefts = {pair.operator.name for pair in matching.pairs} | {alone.name for alone in matching.left_alone}
    assert lefts == {operator.name for operator in matching.left.operators.values()}
    relations = {pair.relation for pair in matching.pairs}
    assert relations == {'same', 'fusion', 'conversion'}
    assert any('inside the fused operator' in alone.reason for alone in matching.right_alone)


def test_topological_order(compared: Comparison) -> None:
    place = {pair.operator.key: i for i, pair in enumerate(compared.matching.pairs)}
    for key, node in compared.matching.left.compiled.nodes.items():
        for producer, _ in node.inputs:
            if producer in place and key in place:
                assert place[producer] < place[key]


def test_the_sheet_has_the_vendors_columns(compared: Comparison) -> None:
    rows = list(csv.reader(io.StringIO(csv_text(compared.rows))))
    wanted = ('Index,OpSequence,OpType,NPUDump,DataType,Address,GroundTruth,DataType,TensorIndex,Shape,OverFlow,'
              'CosineSimilarity,MaxAbsoluteError,AccumulatedRelativeError,RelativeEuclideanDistance,'
              'KullbackLeiblerDivergence,StandardDeviation,MeanAbsoluteError,RootMeanSquareError,MaxRelativeError,'
              'MeanRelativeError,CompareFailReason')  # fmt: skip
    assert ','.join(rows[0]) == wanted and len(rows) == len(compared.rows) + 1
    assert all(len(row) == len(HEADER) for row in rows)
    flags = {row[HEADER.index('OverFlow')] for row in rows[1:]}
    assert flags == {'YES', 'NO', 'NaN'}
    assert cells(0, compared.rows[0])[16].startswith('(')


def test_the_same_dump_on_both_sides_agrees(npy: pathlib.Path) -> None:
    comparison = compare(scan(npy), scan(npy))
    assert comparison.verdict.cause == 'none'
    assert comparison.verdict.sentence.startswith('all ')
    assert passed(comparison, 0.999, 0.0, 0.0, True) == []


def test_thresholds(compared: Comparison) -> None:
    assert 'cosine similarity below 0.99' in passed(compared, cosine_below=0.99)[0]
    assert 'relative distance over 0.01' in passed(compared, distance_above=0.01)[0]
    assert 'largest error over 1' in passed(compared, max_error_above=1.0)[0]
    assert 'share at 65504' in passed(compared, overflow=True)[0]
    assert passed(compared) == []


def test_an_interrupted_comparison_goes_on(npu: pathlib.Path, npy: pathlib.Path, tmp_path: pathlib.Path,
                                           monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    from ugatit.dumps import compare as module

    journal, done, measured = tmp_path / 'r.csv.partial', [], module.measured_row

    def stopping(*item: object) -> object:
        if len(done) == 30:
            raise KeyboardInterrupt
        done.append(item)
        return measured(*item)

    monkeypatch.setattr(module, 'measured_row', stopping)
    with pytest.raises(KeyboardInterrupt):
        compare(scan(npu), scan(npy), journal=journal, threads=1)
    kept = len(journal.read_text().splitlines()) - 1
    assert kept > 20
    journal.write_text(journal.read_text() + '{"sequence": 99')  # a line that was being written
    counted: List[object] = []
    monkeypatch.setattr(module, 'measured_row', lambda *item: counted.append(item) or measured(*item))
    resumed = compare(scan(npu), scan(npy), journal=journal, resume=True, threads=1)
    assert len(counted) == len(resumed.matching.pairs) - kept
    assert not journal.exists()
    assert json.dumps(resumed.to_json()) == json.dumps(compare(scan(npu), scan(npy)).to_json())


def test_a_broken_file_is_a_failure_of_its_own(npu: pathlib.Path, npy: pathlib.Path, tmp_path: pathlib.Path) -> None:
    place = tmp_path / '1' / '0'
    shutil.copytree(_validation(npu), place)
    victim = sorted(place.glob('Relu.*'))[0]
    victim.write_bytes(victim.read_bytes()[:-1])
    comparison = compare(scan(tmp_path), scan(npy))
    assert len(comparison.failures) == 1 and victim.name in comparison.failures[0]
    assert any(a.reason == 'not in the left dump' for a in comparison.matching.right_alone)


def test_a_size_mismatch_gets_its_reason(tmp_path: pathlib.Path) -> None:
    for side, count in (('l', 3), ('r', 4)):
        (tmp_path / side).mkdir()
        np.save(tmp_path / side / 'a_Conv2D.0.1629880658.npy', np.zeros(count))
    comparison = compare(scan(tmp_path / 'l'), scan(tmp_path / 'r'))
    assert '3 values' in comparison.rows[0].reason and comparison.verdict.cause == 'unknown'
    assert 'not comparable: a_Conv2D' in summary(comparison)


def _converted(npu: pathlib.Path, folder: pathlib.Path) -> None:
    """What the vendor's tool makes of the same dump."""
    for operator in scan(_validation(npu)).graphs[0].operators.values():
        for i, ref in operator.outputs.items():
            np.save(folder / f'{ref.path.name[:200]}.output.{i}.npy', ref.open().array())


def test_converted_dumps_give_the_same_numbers(compared: Comparison, npu: pathlib.Path, npy: pathlib.Path,
                                               tmp_path: pathlib.Path) -> None:  # fmt: skip
    _converted(npu, tmp_path)
    other = {row.left.replace('/', '_'): row for row in compare(scan(tmp_path), scan(npy)).compared}
    same = [row for row in compared.compared if row.relation == 'same']
    assert len(same) > 100
    for row in same:
        key = row.left.replace('/', '_')
        if other[key].right == row.right:
            assert other[key].metrics == row.metrics


def test_two_npu_dumps(npu: pathlib.Path) -> None:
    with pytest.raises(UserError, match='several dumped graphs fit'):
        compare(scan(npu), scan(npu))
    comparison = compare(scan(npu), scan(npu), VALIDATION)
    assert comparison.verdict.cause == 'none'
    assert comparison.matching.left.model == comparison.matching.right.model == VALIDATION


def test_fused_names_joined_together(tmp_path: pathlib.Path) -> None:
    parts = ('g_conv_Conv2D', 'g_conv_BiasAdd', 'g_Relu')
    (tmp_path / 'l').mkdir()
    (tmp_path / 'r').mkdir()
    np.save(tmp_path / 'l' / 'g_Tanh.0.1629880658.npy', np.ones(3))
    for part in (*parts, 'g_Tanh'):
        np.save(tmp_path / 'r' / f'{part}.0.1629880658.npy', np.ones(3))
    npu_file(tmp_path / 'l' / f'Conv2D.{"".join(parts)}.1.2.1629880658', [Tensor(np.ones(3))], name=''.join(parts))
    rows = compare(scan(tmp_path / 'l'), scan(tmp_path / 'r')).compared
    assert {(row.right, row.relation) for row in rows} == {('g_Relu', 'fusion'), ('g_Tanh', 'same')}


def test_long_names_are_found_through_the_mapping(tmp_path: pathlib.Path) -> None:
    name = 'generator_B/' + 'deep/' * 60 + 'Conv2D'
    (tmp_path / 'l').mkdir()
    (tmp_path / 'r').mkdir()
    key = name.replace('/', '_')
    npu_file(tmp_path / 'l' / '1629880658123456789', [Tensor(np.ones(3))], name=name)
    (tmp_path / 'l' / 'mapping.csv').write_text(f'1629880658123456789,Conv2D.{key}.1.2.1629880658123456\n')
    tree = scan(tmp_path / 'l')
    assert list(tree.graphs[0].operators) == [key]


def test_states_in_words(exact: Capture, npy: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """One tensor spoilt by hand: what comes after it is blamed on it, and it on itself."""
    names: Dict[str, np.ndarray] = {tensor.name: tensor.values for tensor in exact.outputs()}
    spoilt = 'generator_B/resblock_0/add'
    write_npy(tmp_path, exact)
    path = next(tmp_path.glob('generator_B_resblock_0_add.*'))
    np.save(path, names[spoilt] * 1.5)
    verdict = compare(scan(tmp_path), scan(npy)).verdict
    assert verdict.operator == 'generator_B_resblock_0_add' and verdict.cause == 'operator'
    assert 'the output before it agrees to 0e+00, output differs by 50 %' in verdict.sentence
    np.save(path, np.where(names[spoilt] > 0, np.nan, names[spoilt]))
    assert 'NaN or infinity' in compare(scan(tmp_path), scan(npy)).verdict.sentence
    np.save(path, np.zeros_like(names[spoilt]))
    assert 'zero everywhere' in compare(scan(tmp_path), scan(npy)).verdict.sentence


def test_a_training_graph_with_few_other_operators(npy: pathlib.Path, saturated: Capture,
                                                   tmp_path: pathlib.Path) -> None:  # fmt: skip
    """The kind of a graph decides where the names alone hardly tell the two apart."""
    write_tree(tmp_path, saturated)
    assert choose(scan(tmp_path), scan(npy))[0].model == VALIDATION
