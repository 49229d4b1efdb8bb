"""Attributes of the adapter's `global_options()` that can be given as NAME=VALUE, checked before a device is opened.

Names, values and types are the vendor's (adapter for TensorFlow 2.6.5). Whoever comes from TensorFlow 1.15 may give the
session options of there: npu_session_options.py says what became of each.
"""

from __future__ import annotations

import difflib
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple, Union

from ugatit.errors import UserError
from ugatit.runners.npu_session_options import SESSION_OPTIONS

Legal = Union[type, Tuple[Any, ...]]

_PRECISION = ('force_fp32', 'allow_fp32_to_fp16', 'force_fp16', 'must_keep_origin_dtype', 'allow_mix_precision',
              'cube_fp16in_fp32out', 'allow_mix_precision_fp16', 'allow_mix_precision_bf16',
              'allow_fp32_to_bf16')  # fmt: skip
_BOOL = (False, True)

GENERAL: Dict[str, Legal] = {
    'precision_mode': _PRECISION,
    'precision_mode_v2': ('fp16', 'origin', 'cube_fp16in_fp32out', 'mixed_float16', 'mixed_bfloat16'),
    'modify_mixlist': str,
    'customize_dtypes': str,
    'op_precision_mode': str,
    'op_select_implmode': ('high_performance', 'high_precision'),
    'optypelist_for_implmode': str,
    'fusion_switch_file': str,
    'enable_scope_fusion_passes': str,
    'op_debug_level': (0, 1, 2, 3, 4),
    'op_debug_config': str,
    'debug_dir': str,
    'op_compiler_cache_mode': ('enable', 'disable', 'force'),
    'op_compiler_cache_dir': str,
    'graph_compiler_cache_dir': str,
    'deterministic': (0, 1),
    'overflow_flag': (0, 1),
    'enable_exception_dump': (0, 1, 2),
    'jit_compile': ('true', 'false', 'auto'),  # strings, not booleans
    'compile_dynamic_mode': _BOOL,
    'hcom_parallel': _BOOL,
    'is_tailing_optimization': _BOOL,
    'stream_max_parallel_num': str,
    'stream_sync_timeout': int,
    'event_sync_timeout': int,
    'execute_times': int,
    'ac_parallel_enable': ('0', '1'),
    'quant_dumpable': ('0', '1'),
    'enable_small_channel': _BOOL,
    'topo_sorting_mode': (0, 1),
    'external_weight': _BOOL,
    'input_fusion_size': int,
    'export_compile_stat': (0, 1, 2),
    'shape_generalization_mode': ('STRICT', 'FULL', 'ADAPTIVE'),
    'oo_level': ('O0', 'O1', 'O2', 'O3'),
    'oo_constant_folding': _BOOL,
}
DUMP: Dict[str, Legal] = {
    'enable_dump': _BOOL,
    'enable_dump_debug': _BOOL,
    'dump_path': str,
    'dump_step': str,
    'dump_mode': ('input', 'output', 'all'),
    'dump_debug_mode': ('aicore_overflow', 'atomic_overflow', 'all'),
    'dump_data': ('tensor', 'stats'),
    'dump_layer': str,
}
MEMORY: Dict[str, Legal] = {
    'atomic_clean_policy': (0, 1),
    'static_memory_policy': (0, 2, 3, 4),
    'variable_use_1g_huge_page': (0, 1, 2),
}
SECTIONS: Dict[str, Dict[str, Legal]] = {'': GENERAL, 'dump_config': DUMP, 'memory_config': MEMORY}


class Given(NamedTuple):
    """What somebody typed, understood."""

    values: Dict[str, Any]  # attribute -> value of the right type
    notes: List[str]  # sentences for the log: what was accepted and does nothing, or something else than it did


def read_options(words: Sequence[str]) -> Given:
    """'NAME=VALUE' words; UserError for unknown names, illegal values, and what a flag of ours is for."""
    given = Given({}, [])
    for word in words:
        name, equals, text = word.partition('=')
        if not equals or not text:
            raise UserError(f'--npu_option={word} must be NAME=VALUE, as in --npu_option=deterministic=1.')
        session = SESSION_OPTIONS.get(name)
        if session is not None and session.refused:
            raise UserError(f'--npu_option={name} is not for here: {session.now}.')
        if session is not None and session.now:
            given.notes.append(f'{name}: {session.now}')
        if session is None or session.handed_over:
            given.values[name] = _value(name, text)
    if {'precision_mode', 'precision_mode_v2'} <= set(given.values):
        raise UserError('precision_mode and precision_mode_v2 exclude each other, but both arrived; drop one of them.')
    return given


def section_of(name: str) -> str:
    """'' for an attribute of `global_options()` itself, else the name of the section that has it; UserError if none."""
    for section, table in SECTIONS.items():
        if name in table:
            return section
    legal = [known for table in SECTIONS.values() for known in table]
    near = difflib.get_close_matches(name, [*legal, *SESSION_OPTIONS], 1)
    hint = f'did you mean {near[0]}?' if near else 'docs/ascend.md lists them'
    raise UserError(f'the NPU has no option {name}; {hint}')


def _value(name: str, text: str) -> Any:
    legal = SECTIONS[section_of(name)][name]
    if legal is str:
        return text
    if legal is int:
        try:
            return int(text)
        except ValueError:
            raise UserError(f'{name} must be a whole number, but {text!r} arrived.') from None
    spelled: Mapping[str, Any] = {_spelling(value): value for value in legal}
    if legal == _BOOL:
        spelled = {**spelled, '0': False, '1': True}
    if text not in spelled and text.lower() not in spelled:
        raise UserError(f'{name} must be one of {", ".join(spelled)}, but {text!r} arrived; choose one of these.')
    return spelled[text] if text in spelled else spelled[text.lower()]


def _spelling(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
