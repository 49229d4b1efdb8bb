"""Session options that scripts for TensorFlow 1.15 set, and what became of each. docs/ascend.md prints this table."""

from __future__ import annotations

from typing import Dict, NamedTuple


class SessionOption(NamedTuple):
    """One key of the `NpuOptimizer` parameter map, or of the rewriter's own options."""

    now: str = ''  # what to know; empty: the same name, value and meaning today
    handed_over: bool = True  # whether the adapter gets it
    refused: bool = False  # whether --npu_option refuses it


def _same(now: str = '') -> SessionOption:
    return SessionOption(now)


def _nothing(now: str) -> SessionOption:
    return SessionOption(now, handed_over=False)


def _refused(now: str) -> SessionOption:
    return SessionOption(now, handed_over=False, refused=True)


_PROFILING = 'profiling has a section of its own today, profiling_config, which this runner does not set'
_DEPRECATED = 'deprecated; op_precision_mode=FILE.ini replaces it'

SESSION_OPTIONS: Dict[str, SessionOption] = {
    'use_off_line': _nothing('accepted without effect: with --device=npu everything is compiled for the NPU'),
    'precision_mode': _same(),
    'precision_mode_v2': _same(),
    'modify_mixlist': _same(),
    'customize_dtypes': _same(),
    'graph_memory_max_size': _nothing('accepted without effect: the vendor says that it is no longer effective'),
    'variable_memory_max_size': _nothing('accepted without effect: the vendor says that it is no longer effective'),
    'enable_dump': _refused('use --dump=DIR, which sets it and makes the folder'),
    'dump_path': _refused('use --dump=DIR or --detect_overflow=DIR'),
    'dump_step': _same(),
    'dump_mode': _same(),
    'dump_data': _same(),
    'dump_layer': _same(),
    'enable_dump_debug': _refused('use --detect_overflow=DIR, which sets it and makes the folder'),
    'dump_debug_mode': _same(),
    'op_debug_level': _same('deprecated; op_debug_config=FILE.cfg replaces it'),
    'op_debug_config': _same(),
    'debug_dir': _same(),
    'fusion_switch_file': _same(),
    'op_select_implmode': _same(_DEPRECATED),
    'optypelist_for_implmode': _same(_DEPRECATED),
    'op_precision_mode': _same(),
    'deterministic': _same(),
    'hcom_parallel': _same(),
    'is_tailing_optimization': _same(),
    'jit_compile': _same(),
    'mix_compile_mode': _nothing('accepted without effect: the adapter for TensorFlow 2 has no such option'),
    'iterations_per_loop': _nothing('accepted without effect: one step per call, because each step is judged'),
    'profiling_mode': _refused(_PROFILING),
    'profiling_options': _refused(_PROFILING),
    'stream_sync_timeout': _same(),
    'event_sync_timeout': _same(),
    'stream_max_parallel_num': _same(),
    'enable_exception_dump': _same(),
    'dynamic_input': _nothing('accepted without effect: shapes are static here'),
    'remapping': _nothing('accepted without effect: a rewriter of sessions, and there is none here'),
    'memory_optimization': _nothing('accepted without effect: a rewriter of sessions, and there is none here'),
}
