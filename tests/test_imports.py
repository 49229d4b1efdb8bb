"""The layout's one rule: a package imports only those before it in the order. Lazy imports in functions count too."""

from __future__ import annotations

import ast
import pathlib
import subprocess
import sys
from typing import Iterator, List, NamedTuple, Tuple

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = REPOSITORY / 'ugatit'
ORDER = (
    'numerics',
    'nn',
    'ranges',
    'checkpoints',
    'data',
    'training',
    'runners',
    'translate',  # the module behind ugatit.load
    'planning',  # behind ugatit.profile_ranges and plan_ranges
    'diagnosis',
    'inference',
    'evaluation',
    'ablation',  # judges by evaluation; its drop-in row needs checkpoints and translate only, not export
    'dumps',
    'export',
    'web',
    'cli',
    '__init__',  # hands out names of all the others, lazily
)
FOR_EVERYONE = 'errors'
ENTRY_POINT = '__main__.py'  # of `python -m ugatit.checkpoints`: a script like infer.py, which calls the cli


class Import(NamedTuple):
    """One imported module, with where and how."""

    file: pathlib.Path
    line: int
    module: str  # absolute dotted name
    inside_function: bool

    def __str__(self) -> str:
        return f'{self.file.relative_to(REPOSITORY)}:{self.line} imports {self.module}'


def _imports(tree: ast.AST, file: pathlib.Path, inside: bool = False) -> Iterator[Import]:
    """Every import of a file; `import_module('name')` is one as well."""
    for node in ast.iter_child_nodes(tree):
        inner = inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for module in _modules(node, file):
            yield Import(file, node.lineno, module, inner)
        yield from _imports(node, file, inner)


def _modules(node: ast.AST, file: pathlib.Path) -> List[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = _absolute(node, file)
        return [f'{base}.{alias.name}' for alias in node.names]
    if isinstance(node, ast.Call) and _called(node) in ('import_module', '__import__'):
        first = node.args[0] if node.args else None
        return [first.value] if isinstance(first, ast.Constant) and isinstance(first.value, str) else []
    return []


def _called(call: ast.Call) -> str:
    return getattr(call.func, 'attr', getattr(call.func, 'id', ''))


def _absolute(node: ast.ImportFrom, file: pathlib.Path) -> str:
    if not node.level:
        return node.module or ''
    package = file.relative_to(REPOSITORY).with_suffix('').parts[: -node.level]
    return '.'.join([*package, *([node.module] if node.module else [])])


def _place(parts: Tuple[str, ...]) -> str:
    """The entry of ORDER that a dotted name or a path below ugatit/ belongs to."""
    return parts[0] if parts else '__init__'


def _of_file(file: pathlib.Path) -> str:
    return _place(file.relative_to(PACKAGE).with_suffix('').parts)


def _all() -> List[Import]:
    files = sorted(PACKAGE.rglob('*.py'))
    return [found for file in files for found in _imports(ast.parse(file.read_text('utf-8')), file)]


def _wrong_way(found: Import) -> bool:
    importer = _of_file(found.file)
    parts = tuple(found.module.split('.'))
    if parts[0] != 'ugatit' or importer == '__init__' or found.file.name == ENTRY_POINT:
        return False
    target = _place(parts[1:])
    if target in (importer, FOR_EVERYONE):
        return False
    if target not in ORDER:  # `from ugatit import load`: a name of the package's own surface
        target = '__init__'
    return importer == FOR_EVERYONE or ORDER.index(importer) < ORDER.index(target)


def test_every_module_has_a_place_in_the_order() -> None:
    places = {_of_file(file) for file in PACKAGE.rglob('*.py')} - {FOR_EVERYONE}
    assert places <= set(ORDER)


def test_imports_point_backwards_only() -> None:
    assert [str(found) for found in _all() if _wrong_way(found)] == []


def test_only_the_npu_runner_imports_the_vendors_package_and_only_in_a_function() -> None:
    uses = [found for found in _all() if found.module.split('.')[0] == 'npu_device']
    allowed = PACKAGE / 'runners' / 'npu.py'
    assert uses, 'the NPU runner must import npu_device somewhere, or this test looks at nothing'
    assert [str(found) for found in uses if found.file != allowed or not found.inside_function] == []


@pytest.mark.parametrize('foreign', ['ml_collections', 'keras', 'tf_keras', 'tests', 'pytest'])
def test_the_library_does_without(foreign: str) -> None:
    assert [str(found) for found in _all() if foreign in found.module.split('.')] == []


@pytest.mark.parametrize(
    ('file', 'source', 'wrong'),
    [
        ('nn/x.py', 'from ugatit.numerics import rounding', False),
        ('nn/x.py', 'from ugatit.errors import UserError', False),
        ('nn/x.py', 'def f():\n    from ugatit import ranges', True),
        ('nn/x.py', 'from ..export import onnx', True),
        ('nn/x.py', 'from . import norm', False),
        ('nn/x.py', 'import ugatit', True),
        ('nn/x.py', 'importlib.import_module("ugatit.cli.flags")', True),
        ('runners/x.py', 'import ugatit.training.step', False),
        ('checkpoints/__main__.py', 'from ugatit.cli.main import run', False),
        ('checkpoints/x.py', 'from ugatit.cli.main import run', True),
        ('errors.py', 'import ugatit.numerics', True),
        ('__init__.py', 'from ugatit.translate import load', False),
    ],
)
def test_the_check_itself(file: str, source: str, wrong: bool) -> None:
    assert any(_wrong_way(found) for found in _imports(ast.parse(source), PACKAGE / file)) is wrong


def test_import_ugatit_is_light() -> None:
    """Neither TensorFlow nor NumPy is loaded, no environment variable is set and nothing is printed."""
    code = (
        'import os, sys; before = dict(os.environ); import ugatit;'
        'heavy = {"tensorflow", "numpy", "PIL", "absl"} & set(sys.modules);'
        'sys.exit(f"{heavy or dict(os.environ)}" if heavy or dict(os.environ) != before else 0)'
    )
    done = subprocess.run([sys.executable, '-c', code], cwd=REPOSITORY, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')
