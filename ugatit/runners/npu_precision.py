"""Our policies as the NPU's precision modes, with what the chip then really does (docs/ascend.md has the sources).

The network is built in float32 operators; the compiler puts the casts in. So a policy on an NPU says what the device is
told and what a plan must fit, and rounds nothing itself.
"""

from __future__ import annotations

import dataclasses
from typing import Dict, Mapping, NamedTuple, Tuple

import tensorflow as tf

from ugatit.errors import UserError
from ugatit.nn.policy import Policy
from ugatit.numerics import Format


class Mode(NamedTuple):
    """What a policy becomes."""

    precision_mode: str  # set without further words
    also: Tuple[str, ...]  # other values of `precision_mode` that are this policy too
    version_2: Tuple[str, ...]  # values of `precision_mode_v2` that are it
    on_910: str  # what a 910 does: read in the vendor's documents, never run
    on_a2: str  # what an A2 (910B1 to B4) or later does


MODES: Dict[str, Mode] = {
    'float32': Mode(
        'must_keep_origin_dtype', (), ('origin',),
        'has no float32 convolution: it fails, or falls to the slow AI CPU; use mixed_float16',
        'float32, but convolutions in HF32 (12 significant bits) unless ENABLE_HF32_EXECUTION or op_precision_mode says'
        ' otherwise',
    ),
    'mixed_float16': Mode(
        'allow_fp32_to_fp16', ('allow_mix_precision', 'allow_mix_precision_fp16'), ('mixed_float16',),
        'convolutions and products take float16, add in float32 and give float16 that saturates at 65504; everything'
        ' else is float32',
        'the same; overflow gives infinity unless it is set to saturate',
    ),
    'float16': Mode(
        'force_fp16', (), ('fp16',),
        'everything that has a float16 kernel is float16, statistics too: use --variants=prescaled with a plan',
        'the same; overflow gives infinity unless it is set to saturate',
    ),
    'float16_operands': Mode(
        'cube_fp16in_fp32out', ('force_fp32',), ('cube_fp16in_fp32out',),
        'most likely as mixed_float16: its convolution gives float16 only',
        'convolutions take float16 and give float32',
    ),
    'mixed_bfloat16': Mode(
        'allow_fp32_to_bf16', ('allow_mix_precision_bf16',), ('mixed_bfloat16',),
        'refuses it: there is no bfloat16',
        'convolutions in bfloat16, everything else float32',
    ),
}  # fmt: skip
MIXED = ('allow_mix_precision', 'allow_mix_precision_fp16', 'allow_mix_precision_bf16', 'mixed_float16',
         'mixed_bfloat16')  # fmt: skip
"""Modes with a black list: an operator on no list follows the one before it, statistics behind a convolution too."""


def precision_options(precision: str, given: Mapping[str, object]) -> Dict[str, str]:
    """`precision_mode` or `precision_mode_v2` for a policy; what the user gave if it is that policy, else UserError."""
    mode = MODES[precision]
    for option, legal in (('precision_mode', (mode.precision_mode, *mode.also)), ('precision_mode_v2', mode.version_2)):
        if option in given:
            value = str(given[option])
            if value not in legal:
                raise UserError(
                    f'{option}={value} must be {" or ".join(legal)} with precision {precision}{_belongs(option, value)}'
                )
            return {option: value}
    return {'precision_mode': mode.precision_mode}


def _belongs(option: str, value: str) -> str:
    for precision, mode in MODES.items():
        if value in ((mode.precision_mode, *mode.also) if option == 'precision_mode' else mode.version_2):
            return f'; it is what precision {precision} asks for.'
    return '; the emulation knows no such mode.'


@dataclasses.dataclass(frozen=True)
class DeviceRounded(Policy):
    """A policy whose rounding is the device's own: formats are stated, and no operator is added."""

    def _round(self, x: tf.Tensor, fmt: Format) -> tf.Tensor:
        del fmt
        return x

    @property
    def emulated(self) -> bool:
        return False


def device_policy(policy: Policy, saturates: bool) -> Policy:
    """The policy that networks are built with on an NPU."""
    fields = {field.name: getattr(policy, field.name) for field in dataclasses.fields(Policy)}
    overflow = 'saturate' if saturates and policy.name != 'mixed_bfloat16' else 'ieee'
    return DeviceRounded(**{**fields, 'native': False, 'overflow': overflow})
