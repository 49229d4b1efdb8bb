"""`global_options()`: the documented attributes with their defaults and legal values, and nothing else."""

from __future__ import annotations

from typing import Any, Dict, NamedTuple, Tuple


class Option(NamedTuple):
    """One attribute; `legal` is a tuple of values, or a type where any value of it is."""

    default: Any
    legal: Any


class Deprecated:
    """The default of attributes that should not be used any more."""


_ON, _STR, _INT = (True, False), str, int
_PRECISION = ('force_fp32', 'allow_fp32_to_fp16', 'force_fp16', 'must_keep_origin_dtype', 'allow_mix_precision',
              'cube_fp16in_fp32out', 'allow_mix_precision_fp16', 'allow_mix_precision_bf16',
              'allow_fp32_to_bf16')  # fmt: skip
_PRECISION_V2 = ('fp16', 'origin', 'cube_fp16in_fp32out', 'mixed_float16', 'mixed_bfloat16', 'cube_hif8', 'mixed_hif8')

OPTIONS: Dict[str, Option] = {
    'precision_mode': Option(None, _PRECISION),
    'precision_mode_v2': Option(None, _PRECISION_V2),
    'modify_mixlist': Option(None, _STR),
    'customize_dtypes': Option(None, _STR),
    'op_precision_mode': Option(None, _STR),
    'op_select_implmode': Option(Deprecated, ('high_performance', 'high_precision')),
    'optypelist_for_implmode': Option(Deprecated, _STR),
    'fusion_switch_file': Option(None, _STR),
    'enable_scope_fusion_passes': Option(None, _STR),
    'graph_memory_max_size': Option(None, _STR),
    'variable_memory_max_size': Option(None, _STR),
    'variable_format_optimize': Option(Deprecated, _ON),
    'op_debug_level': Option(Deprecated, (0, 1, 2, 3, 4)),
    'op_debug_config': Option(None, _STR),
    'debug_dir': Option(None, _STR),
    'op_compiler_cache_mode': Option('enable', ('enable', 'disable', 'force')),
    'op_compiler_cache_dir': Option(None, _STR),
    'graph_compiler_cache_dir': Option(None, _STR),
    'deterministic': Option(0, (0, 1)),
    'overflow_flag': Option(1, (0, 1)),
    'enable_exception_dump': Option(2, (0, 1, 2)),
    'jit_compile': Option('auto', ('true', 'false', 'auto')),
    'compile_dynamic_mode': Option(False, _ON),
    'hcom_parallel': Option(True, _ON),
    'hcom_multi_mode': Option(None, _STR),
    'is_tailing_optimization': Option(False, _ON),
    'stream_max_parallel_num': Option(None, _STR),
    'stream_sync_timeout': Option(-1, _INT),
    'event_sync_timeout': Option(-1, _INT),
    'execute_times': Option(-1, _INT),
    'ac_parallel_enable': Option(None, ('0', '1')),
    'quant_dumpable': Option(None, ('0', '1')),
    'enable_small_channel': Option(False, _ON),
    'topo_sorting_mode': Option(None, (0, 1, None)),
    'external_weight': Option(False, _ON),
    'input_fusion_size': Option(131072, _INT),
    'export_compile_stat': Option(1, (0, 1, 2)),
    'shape_generalization_mode': Option('STRICT', ('STRICT', 'FULL', 'ADAPTIVE')),
    'oo_level': Option('O3', ('O0', 'O1', 'O2', 'O3')),
    'oo_constant_folding': Option(True, _ON),
    'graph_run_mode': Option(1, (0, 1)),
}
DUMP: Dict[str, Option] = {
    'enable_dump': Option(False, _ON),
    'dump_path': Option(None, _STR),
    'dump_step': Option(None, _STR),
    'dump_mode': Option('output', ('input', 'output', 'all')),
    'enable_dump_debug': Option(False, _ON),
    'dump_debug_mode': Option('all', ('aicore_overflow', 'atomic_overflow', 'all')),
    'dump_data': Option('tensor', ('tensor', 'stats')),
    'dump_layer': Option(None, _STR),
}
MEMORY: Dict[str, Option] = {
    'atomic_clean_policy': Option(0, (0, 1)),
    'static_memory_policy': Option(0, (0, 1, 2, 3, 4)),
    'variable_use_1g_huge_page': Option(0, (0, 1, 2)),
}


class Config:
    """Attributes from a table; anything else is an error at the moment it is set."""

    def __init__(self, table: Dict[str, Option], **sections: Config) -> None:
        object.__setattr__(self, '_table', table)
        object.__setattr__(self, '_sections', sections)
        for name, value in {**{name: option.default for name, option in table.items()}, **sections}.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._table:
            raise ValueError(f'{type(self).__name__} has no option {name}')
        _check(name, self._table[name].legal, value)
        object.__setattr__(self, name, value)

    def as_dict(self) -> Dict[str, str]:
        """What the C++ side gets: everything flat, as text, True as '1'; what is None or deprecated is left out."""
        flat = {name: getattr(self, name) for name in self._table}
        texts = {name: _text(value) for name, value in flat.items() if value is not None and value is not Deprecated}
        for section in self._sections.values():
            texts.update(section.as_dict())
        return texts

    def changed(self) -> Dict[str, Any]:
        """What somebody set to something else than the default."""
        found = {name: getattr(self, name) for name in self._table if getattr(self, name) != self._table[name].default}
        for section in self._sections.values():
            found.update(section.changed())
        return found


def _check(name: str, legal: Any, value: Any) -> None:
    if isinstance(legal, type):
        if not isinstance(value, legal):
            raise TypeError(f'Expected {legal.__name__}, got {type(value).__name__}')
        return
    if value in legal:  # 1 == True: hcom_parallel=1 passes, in the real one too
        return
    if not isinstance(value, type(legal[0])):
        raise TypeError(f'Expected {type(legal[0]).__name__}, got {type(value).__name__}')
    raise ValueError(f'{name} must be one of {legal}, got {value!r}')


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def make_options() -> Config:
    """The singleton's content before anybody sets anything."""
    return Config(OPTIONS, dump_config=Config(DUMP), memory_config=Config(MEMORY))


def conflicts(options: Config) -> Tuple[str, ...]:
    """Pairs that exclude each other, both set."""
    dump, found = options.dump_config, []
    if dump.enable_dump and dump.enable_dump_debug:
        found.append('enable_dump and enable_dump_debug must not both be True')
    if options.precision_mode is not None and options.precision_mode_v2 is not None:
        found.append('precision_mode and precision_mode_v2 must not both be set')
    return tuple(found)
