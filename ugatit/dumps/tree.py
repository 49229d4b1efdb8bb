"""What a folder holds: dumps of one or several graphs in any of the documented forms, and compiled graphs."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from typing import Dict, Iterator, List, Optional, Tuple

from ugatit.dumps import binary
from ugatit.dumps.ge_graph import GeGraph, describe, read_graph
from ugatit.dumps.names import DumpName, ge_graph_name, is_digits, op_key, parse_name, read_mapping
from ugatit.dumps.tensors import TensorRef
from ugatit.errors import UserError


@dataclasses.dataclass
class Operator:
    """One dumped operator."""

    key: str  # its name with _ for all but letters, digits and -
    name: str  # as the dump has it: with / in binary dumps
    type: str = ''
    order: Tuple[int, int] = (0, 0)  # time and task
    task: int = 0
    stream: Optional[int] = None
    inputs: Dict[int, TensorRef] = dataclasses.field(default_factory=dict)
    outputs: Dict[int, TensorRef] = dataclasses.field(default_factory=dict)
    originals: Dict[int, Tuple[str, int]] = dataclasses.field(default_factory=dict)  # output -> user's operator, output
    times: int = 1  # how often it was dumped here; the last one counts


@dataclasses.dataclass
class DumpGraph:
    """The dumps of one folder: one graph, one step."""

    label: str  # path below the root
    model: str  # the graph's name, where the folders follow .../TIME/DEVICE/MODEL/ID/STEP
    operators: Dict[str, Operator]  # by key, in order of time
    failures: List[str]  # files that cannot be read
    compiled: Optional[GeGraph] = None

    def keys(self) -> List[str]:
        """Of its operators, and of those that fusion hid in them."""
        hidden = [key for op in self.operators.values() for key, _ in op.originals.values()]
        return list(dict.fromkeys([*self.operators, *hidden]))

    def kind(self) -> str:
        """'validation: ...' and so on, from the compiled graph where there is one."""
        return describe(self.compiled.nodes if self.compiled is not None else self.operators)


@dataclasses.dataclass
class Tree:
    """Everything below a folder."""

    root: pathlib.Path
    graphs: List[DumpGraph]
    failures: List[str]


def scan(root: os.PathLike[str], graphs: Optional[os.PathLike[str]] = None) -> Tree:
    """Finds all dumps below a folder, and compiled graphs there or below `graphs`; reads headers only.

    Raises:
        UserError: no folder, no dump in it, or no compiled graph below `graphs`.
    """
    root = pathlib.Path(root)
    if not root.is_dir():
        raise UserError(f'{root}: expected a folder with dumps, but it is no folder; check the path.')
    failures: List[str] = []
    found = [graph for folder, names in _folders(root) for graph in [_folder(root, folder, names, failures)] if graph]
    if not found:
        raise UserError(f'{root}: expected dumps (TYPE.NAME.TASK.STREAM.TIME or NAME.OUTPUT.TIME.npy), but none is'
                        ' there; name the folder that dump_path pointed to.')  # fmt: skip
    compiled = {}
    for place in dict.fromkeys((root, *([pathlib.Path(graphs)] if graphs else []))):
        there = _compiled(place, failures)
        if graphs and place == pathlib.Path(graphs) and not there and not failures:
            raise UserError(f'{place}: expected compiled graphs (ge_proto_*_Build.txt), but none is there; name the'
                            ' folder that holds them, or leave --ge_graphs out.')  # fmt: skip
        compiled.update(there)
    for graph in found:
        graph.compiled = compiled.get(graph.model)
    return Tree(root, found, failures)


def _folders(root: pathlib.Path) -> Iterator[Tuple[pathlib.Path, List[str]]]:
    for folder, subfolders, names in os.walk(root):
        subfolders.sort()
        yield pathlib.Path(folder), sorted(names)


def _folder(root: pathlib.Path, folder: pathlib.Path, names: List[str], failures: List[str]) -> Optional[DumpGraph]:
    try:
        mapping = read_mapping(folder) if 'mapping.csv' in names else {}
    except UserError as error:
        failures.append(str(error))
        mapping = {}
    operators: Dict[str, Operator] = {}
    broken: List[str] = []
    for name in names:
        parsed = parse_name(mapping.get(name, mapping.get(name.partition('.')[0], name)) if is_digits(name) else name)
        if parsed is not None and parsed.form != 'opdebug' and (folder / name).is_file():  # reading a pipe would wait
            try:
                _add(operators, folder / name, parsed)
            except (UserError, OSError) as error:
                broken.append(str(error))
    if not operators and not broken:
        return None
    ordered = dict(sorted(operators.items(), key=lambda item: item[1].order))
    label = folder.relative_to(root).as_posix()
    return DumpGraph(label, _model(folder), ordered, broken)


def _model(folder: pathlib.Path) -> str:
    """.../MODEL/ID/STEP -> MODEL; else the folder's own name."""
    parts = folder.parts
    return parts[-3] if len(parts) > 2 and parts[-1].isdigit() and parts[-2].isdigit() else folder.name


def _add(operators: Dict[str, Operator], path: pathlib.Path, name: DumpName) -> None:
    key = op_key(name.op_name)
    if name.form != 'dump':
        operator = operators.setdefault(key, Operator(key, name.op_name, name.op_type, (name.time, name.task)))
        refs = operator.inputs if name.kind == 'input' else operator.outputs
        refs[name.index] = TensorRef(path, name.form, name.kind, name.index, name)
        operator.task, operator.stream = name.task, name.stream
        return
    header = binary.read_dump(path).header
    order = (name.time, name.task)
    before = operators.get(key)
    if before is not None and before.order > order:
        before.times += 1
        return
    operator = Operator(key, header.op_name or name.op_name, name.op_type, order, name.task, name.stream)
    operator.inputs = {i: TensorRef(path, 'dump', 'input', i) for i in range(len(header.inputs))}
    operator.outputs = {i: TensorRef(path, 'dump', 'output', i) for i in range(len(header.outputs))}
    operator.originals = {i: (op_key(t.original.name), t.original.output_index) for i, t in enumerate(header.outputs)
                          if t.original is not None and t.original.name}  # fmt: skip
    operator.times = before.times + 1 if before is not None else 1
    operators[key] = operator


def _compiled(root: pathlib.Path, failures: List[str]) -> Dict[str, GeGraph]:
    """Graphs by name; of several compilations the last counts."""
    found: Dict[str, GeGraph] = {}
    for folder, names in _folders(root):
        for name in names:
            if ge_graph_name(name) is None or not name.endswith('_Build.txt'):
                continue
            try:
                graph = read_graph(folder / name)
                found[graph.name] = graph
                found.setdefault(ge_graph_name(name) or graph.name, graph)
            except (UserError, OSError) as error:
                failures.append(str(error))
    return found
