"""Command lines for programs that were not run here: ATC for an Ascend device, trtexec and onnxruntime for ONNX."""

from __future__ import annotations

import pathlib
import shlex
from typing import Dict, Iterable, List, NamedTuple, Optional

from ugatit.export.runner import Tensor
from ugatit.export.trace import Traced
from ugatit.nn.generator import Generator
from ugatit.runners.npu_mixlist import STATISTICS_OPERATORS, black_list


class Written(NamedTuple):
    """Command lines and the files that they name."""

    lines: List[str]
    files: Dict[str, str]  # name beside the exported file -> content


def atc_mode(precision: str, statistics: str) -> str:
    """The mode in which a file is right: halves stay as they are, `prescaled` survives halves everywhere, and plain
    statistics stay float32 where only convolutions become half (the 910's default in training)."""
    if precision != 'float32':
        return 'must_keep_origin_dtype'
    return 'force_fp16' if statistics == 'prescaled' else 'allow_fp32_to_fp16'


def atc(path: pathlib.Path, traced: Traced, generator: Generator, soc_version: str, mode: str, safe: bool) -> Written:
    """ATC for a frozen graph. safe: its statistics fit float16, so nothing needs to be kept in float32."""
    words = [
        'atc',
        '--framework=3',
        f'--model={path.name}',
        f'--output={path.stem}',
        f'--soc_version={soc_version}',
        '--input_format=NHWC',
        f'--input_shape={traced.input.name}:{_sides(traced.input, ",")}',
        f'--out_nodes={";".join(f"{name}:0" for name in traced.output_names)}',
        f'--precision_mode={mode}',
    ]
    files: Dict[str, str] = {}
    if not safe and mode == 'force_fp16':
        files[f'{path.name}.keep_dtype.cfg'] = '\n'.join(statistics_nodes(traced, generator)) + '\n'
        words.append(f'--keep_dtype={path.name}.keep_dtype.cfg')
    if not safe and mode == 'allow_mix_precision':
        files[f'{path.name}.mixlist.json'] = black_list(STATISTICS_OPERATORS)
        words.append(f'--modify_mixlist={path.name}.mixlist.json')
    line = _line(words)
    return Written([line], {**files, f'{path.name}.atc.sh': f'#!/bin/sh\n# Not run where the file was made.\n{line}\n'})


def statistics_nodes(traced: Traced, generator: Generator) -> Iterable[str]:
    """Names of the nodes that compute means, variances and x_hat: what must stay float32 where squares do not fit."""
    norms = [f'{name}/' for name, kind in generator.registry.layers.items() if kind == 'norm']
    for node in traced.graph_def.node:
        if node.op not in ('Const', 'Placeholder') and any(node.name.startswith(norm) for norm in norms):
            yield node.name


def onnx_lines(path: pathlib.Path, traced: Traced, precision: str, statistics: str) -> Written:
    """trtexec and onnxruntime, for an ONNX file."""
    words = ['trtexec', f'--onnx={path.name}', f'--saveEngine={path.stem}.plan']
    if None in traced.input.shape:
        words += [f'--{bound}Shapes={traced.input.name}:{_sides(traced.input, "x", batch)}'
                  for bound, batch in (('min', 1), ('opt', 1), ('max', 4))]  # fmt: skip
    if precision != 'float32':
        words.append('--stronglyTyped')  # the file's own types: halves, and float32 where it says so
    elif statistics == 'prescaled':
        words.append('--fp16')
    else:
        words.append('--noTF32')  # --fp16 would square in half: export with --precision=float16, or prescaled
    runtime = _line(['python', 'infer.py', f'--model={path.name}', '--input=PHOTO', '--output=results'])
    text = f'{_line(words)}  # not run where the file was made\n{runtime}  # onnxruntime, as it was checked\n'
    return Written([_line(words)], {f'{path.name}.commands.txt': text})


def _sides(tensor: Tensor, separator: str, batch: Optional[int] = None) -> str:
    """'1,256,256,3', free sides as -1, or as one picture of 256 x 256 where a batch is given."""
    sides = list(tensor.shape)
    if batch is not None:
        sides = [batch if sides[0] is None else sides[0], *(256 if side is None else side for side in sides[1:])]
    return separator.join(str(-1 if side is None else side) for side in sides)


def _line(words: Iterable[str]) -> str:
    return ' '.join(shlex.quote(word) for word in words)
