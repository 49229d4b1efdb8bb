"""What a named tensor is, and in which format each policy stores it."""

from __future__ import annotations

import re

from ugatit.nn.policy import Policy
from ugatit.numerics import FLOAT32, Format

OPERAND = 'operand'  # a kernel, bias or attention weight as its layer uses it: the same for every picture
INPUT = 'input'  # what a convolution or dense layer multiplies with its kernel
RESULT = 'result'  # what a convolution or dense layer gives
VECTOR = 'vector'  # what an element-wise operation or a statistic gives
SQUARE = 'square'  # squared differences and their mean, which grow with the square of the range
WIDE = 'wide'  # kept in float32 by every policy of ours: spectral norm, the final tanh

_PATTERNS = (
    (WIDE, r'.*/(MatMul|MatMul_[123])', r'discriminator_[AB]/.*'),  # power iteration and sigma
    (WIDE, r'.*/Tanh', None),
    (OPERAND, r'.*/(kernel|bias)', None),
    (INPUT, r'.*/input', None),
    (OPERAND, r'.*/CAM_logit(_1)?/(BiasAdd|GatherV2)', None),  # kernel + bias
    (RESULT, r'.*/(Conv2D|BiasAdd|MatMul|MatMul_4)', None),
    (RESULT, r'.*/CAM_logit(_1)?/add', None),
    (SQUARE, r'.*/(moments|moments_1)/(SquaredDifference|variance)', None),
)


def kind_of(name: str) -> str:
    """OPERAND, INPUT, RESULT, VECTOR, SQUARE or WIDE, by the tensor's name."""
    for kind, pattern, scope in _PATTERNS:
        if re.fullmatch(pattern, name) and (scope is None or re.fullmatch(scope, name)):
            # Without spectral norm a discriminator's CAM has one MatMul, and it is the logit.
            if kind != WIDE or not name.endswith('CAM_logit/MatMul'):
                return kind
    return VECTOR


def stored_format(name: str, policy: Policy) -> Format:
    """The format in which a policy stores this tensor."""
    kind = kind_of(name)
    if kind == OPERAND and name.endswith(('/BiasAdd', '/GatherV2')):
        return policy.vector_format
    if kind in (OPERAND, INPUT):
        return policy.result_format if name.endswith('/bias') else policy.operand_format
    if kind == RESULT:
        return policy.result_format
    return FLOAT32 if kind == WIDE else policy.vector_format
