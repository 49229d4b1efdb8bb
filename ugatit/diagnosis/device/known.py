"""The arithmetics that can be emulated, by name: what the project assumes of each device."""

from __future__ import annotations

import dataclasses
from typing import Dict, NamedTuple, Optional

from ugatit.diagnosis.device.arithmetic import Emulated
from ugatit.nn.policy import Policy, make_policy
from ugatit.numerics import FLOAT16_UNBOUNDED, FLOAT32, Format


class Known(NamedTuple):
    """An arithmetic that can be emulated."""

    summary: str
    policy: Policy
    kernel_gradient: Format  # of a convolution
    status: bool = False  # a register that overflow sets
    products: Optional[Policy] = None  # of products of matrices, where they are not as convolutions

    def arithmetic(self) -> Emulated:
        return Emulated(self.policy, self.kernel_gradient, self.status, self.products or self.policy)


def _policy(name: str, operands: Format) -> Policy:
    return Policy(name, operand_format=operands)


_MIXED, _SATURATING = make_policy('mixed_float16'), make_policy('mixed_float16', 'saturate')
TF32 = dataclasses.replace(FLOAT16_UNBOUNDED, name='TF32')
# One more bit than TF32: the vendor says "11-bit mantissa", taken here for 11 bits behind the leading one.
HF32 = dataclasses.replace(
    FLOAT16_UNBOUNDED, name='HF32', significand_bits=12, max_finite=(2 - 2.0**-11) * 2.0**127,
    smallest_subnormal=2.0**-137,
)  # fmt: skip

KNOWN: Dict[str, Known] = {
    'float32': Known('a CPU, or a GPU with TF32 switched off', make_policy(), FLOAT32),
    'tf32': Known("an NVIDIA GPU's default since 2020", _policy('tf32', TF32), FLOAT32),
    'hf32': Known("an Ascend A2's default for float32: HF32 in convolutions, not in products of matrices",
                  _policy('hf32', HF32), FLOAT32, products=make_policy()),
    'ascend910': Known('an Ascend 910 in allow_fp32_to_fp16, as mixed_float16 with saturate emulates it',
                       _SATURATING, FLOAT32, True),
    'ascend910_force_fp16': Known('an Ascend 910 in force_fp16, as float16 with saturate emulates it',
                                  make_policy('float16', 'saturate'), FLOAT32, True),
    'float16_operands': Known('float16 in, float32 out: what a 910 would need', make_policy('float16_operands'),
                              FLOAT32),
    'mixed_float16': Known("a GPU's tensor cores with float16 layers", _MIXED, _MIXED.result_format),
    'float16': Known('everything in float16, overflow to infinity', make_policy('float16'), _MIXED.result_format),
    'bfloat16': Known('bfloat16 layers on modern CPUs and GPUs', make_policy('mixed_bfloat16'),
                      make_policy('mixed_bfloat16').result_format),
}  # fmt: skip
"""What the emulation knows, and what it assumes of each."""
