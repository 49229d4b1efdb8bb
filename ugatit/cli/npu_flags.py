"""The flags that belong to --device=npu."""

from __future__ import annotations

from typing import Any, Optional

from ugatit.cli.flags import CommandFlags


def option_flags(flags: CommandFlags) -> None:
    """--npu_option alone, for commands that translate nothing."""
    flags.group('Ascend NPU (only with --device=npu)')
    flags.many(
        'npu_option', "an attribute of the adapter's global options, checked by name, value and type; may be repeated."
        ' Session options of TensorFlow 1.15 are accepted too, with a note on what became of them', value='NAME=VALUE',
    )  # fmt: skip


def npu_flags(flags: CommandFlags) -> None:
    """All of them."""
    option_flags(flags)
    flags.path('dump', None, "every operator's inputs and outputs of the first step, for diagnose.py compare",
               value='DIR')  # fmt: skip
    flags.path('detect_overflow', None, 'what overflowed, for diagnose.py overflow; not together with --dump',
               value='DIR')  # fmt: skip
    flags.choice('reflect_pad', 'slices', ('slices', 'mirror'), 'how reflect padding is computed, the bits are the'
                 ' same: mirror is an operator that a 910 runs on its slow AI CPU')  # fmt: skip


def npu_settings(options: Any, folder: Optional[str] = None) -> Any:
    """The NpuSettings that a command line means; `folder` for files that the NPU's compiler reads."""
    from ugatit.runners import NpuSettings

    return NpuSettings(
        dump=_get(options, 'dump'),
        detect_overflow=_get(options, 'detect_overflow'),
        options=tuple(options.npu_option),
        reflect_pad=_get(options, 'reflect_pad') or 'slices',
        folder=folder,
    )


def _get(options: Any, name: str) -> Optional[str]:
    return getattr(options, name) if name in options else None
