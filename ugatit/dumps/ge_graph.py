"""The graphs that the NPU compiled: `ge_proto_NNNNN_GRAPH_Build.txt`, a protobuf message as text.

Read line by line, and only names, types and edges are kept: such files hold every attribute of every operator.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
from typing import Dict, Iterable, Iterator, List, Optional, TextIO, Tuple

from ugatit.dumps.names import ge_graph_name, op_key
from ugatit.errors import UserError

_TOKEN = re.compile(
    r'\s*(?:(?P<string>"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\')|(?P<open>[{<])|(?P<close>[}>])|(?P<colon>:)'
    r'|(?P<word>[A-Za-z_][\w.]*)|(?P<other>#.*|[^\s{}<>:"\']+))'
)
_LINE = 1 << 20  # longer lines hold constant data and are skipped
_MOST_NODES, _DEEPEST = 1 << 20, 100


@dataclasses.dataclass(frozen=True)
class Node:
    """One operator of a compiled graph."""

    name: str  # with /
    type: str
    inputs: Tuple[Tuple[str, int], ...] = ()  # (producer's key, its output), control edges left out

    @property
    def key(self) -> str:
        return op_key(self.name)


@dataclasses.dataclass(frozen=True)
class GeGraph:
    """One compiled graph; nodes by key, in the file's order."""

    name: str  # equals the dump folder's model name
    path: pathlib.Path
    nodes: Dict[str, Node]

    def order(self) -> List[str]:
        """Keys in topological order, near the file's; a cycle's members come last."""
        waiting = {key: {producer for producer, _ in node.inputs if producer in self.nodes} for key, node in
                   self.nodes.items()}  # fmt: skip
        readers: Dict[str, List[str]] = {}
        for key, producers in waiting.items():
            for producer in producers:
                readers.setdefault(producer, []).append(key)
        ready = [key for key, producers in waiting.items() if not producers][::-1]
        found: List[str] = []
        while ready:
            key = ready.pop()
            found.append(key)
            for reader in reversed(readers.get(key, [])):
                waiting[reader].discard(key)
                if not waiting[reader]:
                    ready.append(reader)
        seen = set(found)
        return found + [key for key in self.nodes if key not in seen]


def read_graph(path: os.PathLike[str]) -> GeGraph:
    """Reads one file. UserError that names it where it is cut off or no text protobuf."""
    path = pathlib.Path(path)
    reader = _Reader()
    try:
        with open(path, encoding='utf-8', errors='replace') as file:
            for line in _lines(file):
                reader.line(line)
        reader.end()
    except UserError as error:
        raise UserError(f'{path}: not a complete graph ({error}); dump it again.') from None
    return GeGraph(reader.graph or ge_graph_name(path.name) or path.stem, path, {n.key: n for n in reader.nodes})


def describe(keys: Iterable[str]) -> str:
    """What kind of graph operators of these keys make: 'validation: generator_B alone, no discriminator'."""
    keys = list(keys)
    scopes = sorted({found[0] for found in map(_SCOPE.match, keys) if found})
    generators = [s for s in scopes if s.startswith('generator')]
    discriminators = [s for s in scopes if s.startswith('discriminator')]
    training = any(re.search(r'gradients|(^|_)Adam|beta[12]_power', key) for key in keys)
    computing = any(re.search(r'Conv2D|MatMul', key) and not key.startswith('gradients') for key in keys)
    count = f'{len(keys)} operators'
    if training:
        return f'training: {", ".join(scopes) or "no known network"} with gradients; {count}'
    if not computing:
        return f'initialisation: no convolution, variables only; {count}'
    if len(generators) == 1 and not discriminators:
        other = 'generator_A' if generators[0] == 'generator_B' else 'generator_B'
        return f'validation: {generators[0]} alone, no {other}, no discriminator, no gradients; {count}'
    return f'forward pass of {", ".join(scopes) or "no known network"}; {count}'


_SCOPE = re.compile(r'(generator_[AB]|discriminator_[AB])(?=_)')


class _Reader:
    """Keeps where it is in the message, and the current operator."""

    def __init__(self) -> None:
        self.nodes: List[Node] = []
        self.graph: Optional[str] = None
        self._path: List[str] = []
        self._field, self._value = '', False
        self._operator: Dict[str, List[str]] = {}

    def line(self, line: str) -> None:
        for kind, token in _tokens(line):
            if kind == 'open':
                self._enter()
            elif kind == 'close':
                self._leave()
            elif kind == 'colon':
                self._value = True
            elif self._value:
                self._take(token)
                self._value = False
            elif kind == 'word':
                self._field = token

    def end(self) -> None:
        if self._path:
            raise UserError(f'it ends inside {self._path[-1]!r}')

    def _enter(self) -> None:
        if len(self._path) >= _DEEPEST:
            raise UserError(f'messages nested more than {_DEEPEST} deep')
        self._path.append(self._field)
        self._value = False
        if self._in_operator():
            self._operator = {'name': [], 'type': [], 'input': []}

    def _leave(self) -> None:
        if not self._path:
            raise UserError('a closing brace without an opening one')
        if self._in_operator():
            self._finish()
        self._path.pop()

    def _in_operator(self) -> bool:
        return self._path in (['graph', 'op'], ['op'])

    def _take(self, token: str) -> None:
        text = _unquoted(token)
        if self._in_operator():
            if self._field in self._operator:
                self._operator[self._field].append(text)
        elif self._field == 'name' and (self._path == ['graph'] or not self._path and self.graph is None):
            self.graph = text

    def _finish(self) -> None:
        operator = self._operator
        if not operator['name']:
            raise UserError('an operator without a name')
        inputs = tuple(edge for edge in map(_edge, operator['input']) if edge is not None)
        self.nodes.append(Node(operator['name'][0], (operator['type'] or [''])[0], inputs))
        if len(self.nodes) > _MOST_NODES:
            raise UserError(f'more than {_MOST_NODES} operators')


def _lines(file: TextIO) -> Iterator[str]:
    """Lines up to a bound; of a longer one only that it was there."""
    while True:
        line = file.readline(_LINE)
        if not line:
            return
        if len(line) == _LINE and not line.endswith('\n'):
            while line and not line.endswith('\n'):
                line = file.readline(_LINE)
            continue
        yield line


def _tokens(line: str) -> Iterator[Tuple[str, str]]:
    position = 0
    while position < len(line):
        found = _TOKEN.match(line, position)
        if found is None:
            if line[position:].strip():
                raise UserError(f'a text that does not end: {line[position:].strip()[:40]!r}')
            return
        position = found.end()
        kind = found.lastgroup or ''
        if kind != 'other' or not found[kind].startswith('#'):
            yield kind, found[kind]


def _unquoted(token: str) -> str:
    if token[:1] not in ('"', "'"):
        return token
    return re.sub(r'\\(.)', r'\1', token[1:-1])


def _edge(text: str) -> Optional[Tuple[str, int]]:
    """'NODE:0' -> (key, 0); None for a control edge 'NODE:-1' and an empty input."""
    name, _, index = text.rpartition(':')
    return (op_key(name), int(index)) if name and re.fullmatch(r'[0-9]{1,6}', index) else None
