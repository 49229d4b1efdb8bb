"""The generator's forward pass in terms of the identities of `ugatit.nn.algebra`; its twin is `ugatit.nn.generator`.

Intermediate tensors are not those of the official graph, so whoever asks for these (a tap), or for another format,
variant or device, gets the twin.
"""

from __future__ import annotations

from typing import Callable, List, Tuple

import numpy as np
import tensorflow as tf

from ugatit.nn.algebra import affine
from ugatit.nn.algebra.attention import attended
from ugatit.nn.algebra.direct import DirectConv
from ugatit.nn.algebra.grouping import GroupedConv
from ugatit.nn.algebra.product import Product
from ugatit.nn.algebra.upsampling import UpsampledConv
from ugatit.nn.algebra.winograd import WinogradConv
from ugatit.nn.call import PLAIN_CALL
from ugatit.nn.generator import DECODER, Generator, GeneratorOutput, ResidualBlock
from ugatit.nn.layers import Conv, Dense
from ugatit.nn.norm import Norm
from ugatit.nn.rules import DEFAULT_VARIANTS
from ugatit.nn.scaling import Folded, Unplanned

Step = Callable[[tf.Tensor], tf.Tensor]


def fits(generator: Generator) -> bool:
    """Whether the identities hold: the paper's layers, with exponents that are folded in or absent."""
    rows = generator.registry.variants.items()
    as_in_the_paper = all(
        variant == DEFAULT_VARIANTS.choose(setting, layer) for layer, row in rows for setting, variant in row.items()
    )
    return as_in_the_paper and type(generator.build.scaling) in (Unplanned, Folded)


class FastGenerator:
    """A generator's function, [N, H, W, 3] -> GeneratorOutput, with kernels prepared from its weights as they are now.

    H and W must be known when it is traced. Pictures go through one at a time, so that a batch needs no more memory
    than one picture; only the MLP sees the whole batch, so that a full model's `linear_0` is read once.
    """

    def __init__(self, generator: Generator, dtype: tf.DType = tf.float32) -> None:
        """dtype: of the operands and results of convolutions, float32 or bfloat16."""
        self._plain, self._dtype = generator, dtype
        self._encoder = self._encoding(generator)
        self._mlp = [self._dense(getattr(generator.mlp, name)) for name in ('linear_0', 'linear_1', 'gamma', 'beta')]
        self._blocks = [self._adaptive_block(block) for block in generator.adaptive_resblocks]
        self._decoder = self._decoding(generator)

    def __call__(self, images: tf.Tensor) -> GeneratorOutput:
        """images [N, H, W, 3] float32 in [-1, 1], H and W multiples of 4."""
        plain = self._plain
        x, average, largest = _each_picture(self._encode, images, (tf.float32,) * 3)
        logits = None if plain.cam is None else plain.cam.logits(average, largest, PLAIN_CALL)
        heatmap = plain.heatmap(x, PLAIN_CALL, plain.scope, DECODER)
        gamma, beta = self._modulation(x)
        return GeneratorOutput(_each_picture(self._decode, (x, gamma, beta), tf.float32), logits, heatmap)

    def _encode(self, x: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """One picture [H, W, 3] -> what the MLP and the decoder read, and CAM's two pooled vectors."""
        for step in self._encoder:
            x = step(x)
        features = tf.reshape(x, [-1, x.shape[-1]])
        attention = tf.nn.relu(self._attend(features) + self._plain.conv_1x1.weights.bias)
        return tf.reshape(attention, x.shape), tf.reduce_mean(features, 0), tf.reduce_max(features, 0)

    def _modulation(self, x: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor]:
        """gamma and beta of every AdaLIN layer, [N, C] each, from [N, h, w, C]."""
        light = self._plain.architecture.light
        x = tf.reduce_mean(x, [1, 2]) if light else tf.reshape(x, [-1, np.prod(x.shape[1:])])
        first, second, gamma, beta = self._mlp
        x = tf.nn.relu(second(tf.nn.relu(first(x))))
        return gamma(x), beta(x)

    def _decode(self, inputs: Tuple[tf.Tensor, tf.Tensor, tf.Tensor]) -> tf.Tensor:
        x, gamma, beta = inputs
        for block in self._blocks:
            x = block(x, gamma, beta)
        for step in self._decoder:
            x = step(x)
        return tf.tanh(x)

    def _encoding(self, g: Generator) -> List[Step]:
        steps = []
        for conv, norm in ((g.conv, g.ins_norm), (g.conv_0, g.ins_norm_0), (g.conv_1, g.ins_norm_1)):
            steps += [self._direct(conv), self._instance(norm), tf.nn.relu]
        steps += [self._block(block) for block in g.resblocks]
        kernel = _value(g.conv_1x1)[0, 0]
        if g.cam is not None:
            kernel = attended(kernel, g.cam.weights.kernel.numpy() + g.cam.weights.bias.numpy())
        self._attend = Product(kernel, self._dtype)
        return steps

    def _decoding(self, g: Generator) -> List[Step]:
        steps: List[Step] = []
        for conv, norm in ((g.up_conv_0, g.layer_ins_norm_0), (g.up_conv_1, g.layer_ins_norm_1)):
            normalise = self._mixed(conv, norm)
            steps += [UpsampledConv(_value(conv), self._dtype), _bound(normalise, norm.gamma, norm.beta), tf.nn.relu]
        bias = g.g_logit.weights.bias
        return [*steps, GroupedConv(_value(g.g_logit), self._dtype), lambda x: x + bias]

    def _block(self, block: ResidualBlock) -> Step:
        first, first_norm = self._square(block.conv_first), self._instance(block.norm_first)
        second, second_norm = self._square(block.conv_second), self._instance(block.norm_second)
        return lambda x: x + second_norm(second(tf.nn.relu(first_norm(first(x)))))

    def _adaptive_block(self, block: ResidualBlock) -> Callable[[tf.Tensor, tf.Tensor, tf.Tensor], tf.Tensor]:
        first, second = self._square(block.conv_first), self._square(block.conv_second)
        first_norm = self._mixed(block.conv_first, block.norm_first)
        second_norm = self._mixed(block.conv_second, block.norm_second)

        def run(x: tf.Tensor, gamma: tf.Tensor, beta: tf.Tensor) -> tf.Tensor:
            y = tf.nn.relu(first_norm(first(x), gamma, beta))
            return x + second_norm(second(y), gamma, beta)

        return run

    def _instance(self, norm: Norm) -> Step:
        epsilon = norm.epsilon()
        return lambda x: affine.instance(x, norm.gamma, norm.beta, epsilon)

    def _mixed(self, conv: Conv, norm: Norm) -> Callable[[tf.Tensor, tf.Tensor, tf.Tensor], tf.Tensor]:
        bias, epsilon = conv.weights.bias, norm.epsilon()
        return lambda x, gamma, beta: affine.mixed(x, bias, norm.used_rho(), gamma, beta, epsilon)

    def _square(self, conv: Conv) -> Step:
        """A residual block's convolution: in bfloat16 Winograd's transforms would lose 5 dB."""
        return WinogradConv(_value(conv)) if self._dtype == tf.float32 else self._direct(conv)

    def _direct(self, conv: Conv) -> Step:
        return DirectConv(_value(conv), conv.stride, conv.margins, self._dtype)

    def _dense(self, dense: Dense) -> Step:
        # In float32 always: one row times a gigabyte is bound by memory, and slower in bfloat16 (docs/performance.md).
        product, bias = Product(dense.weights.kernel, tf.float32), dense.weights.bias
        return lambda x: product(x) + bias


def _value(conv: Conv) -> np.ndarray:
    return conv.weights.kernel.numpy()


def _bound(normalise: Callable[..., tf.Tensor], gamma: tf.Variable, beta: tf.Variable) -> Step:
    return lambda x: normalise(x, gamma, beta)


def _each_picture(function: Callable, inputs, dtypes):
    """`function` of one picture after another."""
    return tf.map_fn(function, inputs, fn_output_signature=dtypes, parallel_iterations=1)
