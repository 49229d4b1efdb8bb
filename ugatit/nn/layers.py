"""Convolution and dense layers: official names, spectral norm, guards, formats and exponents at their borders."""

from __future__ import annotations

from typing import Callable, Optional, Tuple

import tensorflow as tf

from ugatit.errors import UserError
from ugatit.nn.algebra import trained
from ugatit.nn.build import Build
from ugatit.nn.call import PLAIN_CALL, Call, SingularVectors
from ugatit.nn.half_kernel import HalfKernel, worth_keeping
from ugatit.nn.norm import EPSILON, RunningStandardize
from ugatit.nn.pad import margins, reflect_pad, upsample
from ugatit.nn.rules import split_variant
from ugatit.nn.standardize import STATISTICS
from ugatit.nn.variables import KERNEL, ONES, SINGULAR_VECTOR, ZEROS

L2_EPSILON = 1e-12  # official code: v / (|v| + 1e-12)
Keep = Callable[[str, tf.Tensor], tf.Tensor]


def unnamed(suffix: str, x: tf.Tensor) -> tf.Tensor:
    """The `keep` that does nothing."""
    del suffix
    return x


def power_iteration(kernel: tf.Tensor, u: tf.Tensor, keep: Keep = unnamed) -> SingularVectors:
    """One step towards the leading singular vectors of `kernel` as [-1, out]; no gradient flows through them."""
    matrix = tf.stop_gradient(_matrix(kernel))
    v = _unit(keep('MatMul', tf.matmul(u, matrix, transpose_b=True)))
    return SingularVectors(u=_unit(keep('MatMul_1', tf.matmul(v, matrix))), v=v)


def _unit(x: tf.Tensor) -> tf.Tensor:
    return x / (tf.norm(x) + L2_EPSILON)


def _matrix(kernel: tf.Tensor) -> tf.Tensor:
    return tf.reshape(kernel, [-1, kernel.shape[-1]])


def spectrally_normalized(kernel: tf.Tensor, vectors: SingularVectors, keep: Keep = unnamed) -> tf.Tensor:
    """kernel / sigma with sigma = v W u^T; always in float32. An all-zero kernel stays zero instead of becoming NaN."""
    product = keep('MatMul_2', tf.matmul(vectors.v, _matrix(kernel)))
    sigma = keep('MatMul_3', tf.matmul(product, vectors.u, transpose_b=True))
    return kernel / tf.where(tf.equal(sigma, 0.0), tf.ones_like(sigma), sigma)[0, 0]


class Kernel(tf.Module):
    """A layer's kernel and bias; with `spectral` the kernel is normalised before it is used."""

    def __init__(
        self,
        build: Build,
        prefix: str,
        shape: list,
        reads: Optional[str],
        writes: Optional[str],
        spectral: bool = False,
    ) -> None:
        super().__init__()
        self._build, self.prefix = build, prefix
        self.kernel = build.variable(f'{prefix}/kernel', shape, KERNEL)
        self.u = build.variable(f'{prefix}/u', [1, shape[-1]], SINGULAR_VECTOR, False) if spectral else None
        self.bias = build.variable(f'{prefix}/bias', shape[-1:], ZEROS)
        self.kernel_rule = build.fold_rule(f'{prefix}/kernel', reads, writes, 1, -1)

    def effective(self, call: Call, name: Optional[str] = None) -> tf.Tensor:
        """The kernel at the scale that maps the read group to the written one.

        Spectral norm comes first, because it divides every scale out again.
        `name` is the official scope of this use where it is not the variables' own (CAM_logit is used twice).
        """
        kernel = tf.convert_to_tensor(self.kernel)
        if self.u is not None:
            kernel = self._normalized(kernel, call, name or self.prefix)
        return call.keep(f'{name or self.prefix}/kernel', self._build.scaling.apply(kernel, self.kernel_rule))

    def _normalized(self, kernel: tf.Tensor, call: Call, name: str) -> tf.Tensor:
        def keep(suffix: str, x: tf.Tensor) -> tf.Tensor:
            return call.keep(f'{name}/{suffix}', x)

        vectors = call.vectors.get(
            f'{self.prefix}/kernel'
        )  # of this update, where the caller shares them between passes
        with self._build.keep_float32():  # a matrix unit's float16 would be part of every weight
            if vectors is None:
                vectors = power_iteration(kernel, self.u, keep)
            return spectrally_normalized(kernel, vectors, keep)


class Conv(tf.Module):
    """Reflect pad, convolution, bias, guard: `conv` of the official code."""

    def __init__(
        self,
        build: Build,
        scope: str,
        inputs: int,
        outputs: int,
        kernel: int,
        stride: int = 1,
        pad: int = 0,
        *,
        reads: Optional[str],
        writes: Optional[str],
        spectral: bool = False,
    ) -> None:
        super().__init__()
        self._build, self.scope, self._reads, self._writes = build, scope, reads, writes
        self.stride, self.margins = stride, margins(kernel, stride, pad)
        self.weights = Kernel(build, scope if spectral else f'{scope}/conv2d', [kernel, kernel, inputs, outputs],
                              reads, writes, spectral)  # fmt: skip
        self._bias_rule = build.fold_rule(f'{self.weights.prefix}/bias', None, writes, 0, -1)
        guard, parameters = split_variant(build.variant('guard', scope, 'conv'))
        self.guard, self._folded = guard, parameters == ('folded',)
        self._limit = clamp_limit(guard, parameters)
        build.join(scope, guard == 'planned', reads, writes)
        self.after = BatchNormAfter(build, f'{scope}/batch_norm', outputs) if guard == 'norm_after' else None

    def __call__(self, x: tf.Tensor, call: Call, upsampling: Optional[str] = None) -> tf.Tensor:
        """x [N, H, W, inputs] -> [N, H', W', outputs], stored at the scale of the written group.

        `upsampling` doubles H and W first; it is the official name of the map between.
        """
        build, name = self._build, self.weights.prefix
        kernel = self.weights.effective(call)
        bias = build.scaling.apply(tf.convert_to_tensor(self.weights.bias), self._bias_rule)
        fold = self.after is not None and self._folded and call.batch_momentum is None
        if fold:
            kernel, bias = self.after.folded_into(kernel, bias)
        at_once = upsampling is not None and build.algebra
        if upsampling is not None:
            between = call.keep(upsampling, upsample(x), self._reads)  # a graph leaves it out where nobody asks for it
            x = x if at_once else between
        x = build.policy.operand(call.keep(f'{name}/input', x, self._reads))
        y = (trained.upsampled if at_once else self._convolved)(x, build.policy.operand(kernel))
        y = call.keep(f'{name}/Conv2D', build.policy.result(y), self._writes)
        bias = build.policy.result(call.keep(f'{name}/bias', bias))
        y = clamped(call.keep(f'{name}/BiasAdd', build.policy.result(y + bias), self._writes), self._limit, build)
        return y if self.after is None or fold else self.after(y, call)

    def _convolved(self, x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        if self._build.algebra:
            return trained.convolved(x, kernel, self.stride, self.margins)
        return tf.nn.conv2d(reflect_pad(x, *self.margins, mode=self._build.pad_mode), kernel, self.stride, 'VALID')


class Dense(tf.Module):
    """x W + b on [N, inputs]; `norm_after` puts a layer normalisation behind it."""

    def __init__(self, build: Build, scope: str, inputs: int, outputs: int, *, reads: str, writes: str) -> None:
        super().__init__()
        self._build, self.scope, self._reads, self._writes = build, scope, reads, writes
        self.weights = Kernel(build, f'{scope}/dense', [inputs, outputs], reads, writes)
        self._half: Optional[HalfKernel] = None
        self._bias_rule = build.fold_rule(f'{scope}/dense/bias', None, writes, 0, -1)
        variant = build.variant('guard', scope, 'dense')
        guard, parameters = split_variant(variant)
        if parameters == ('folded',):
            raise UserError(
                f'{scope} is a dense layer: its LayerNorm depends on the input, so {variant!r} cannot be folded; use'
                ' norm_after there.'
            )
        self._limit = clamp_limit(guard, parameters)
        build.join(scope, guard == 'planned', reads, writes)
        self.after = LayerNormAfter(build, f'{scope}/layer_norm', outputs) if guard == 'norm_after' else None

    def __call__(self, x: tf.Tensor, call: Call) -> tf.Tensor:
        """x [N, inputs] -> [N, outputs], stored at the scale of the written group."""
        build, name = self._build, self.weights.prefix
        kernel = self.weights.effective(call)
        bias = build.scaling.apply(tf.convert_to_tensor(self.weights.bias), self._bias_rule)
        x = build.policy.operand(call.keep(f'{name}/input', x, self._reads))
        if call.frozen and worth_keeping(kernel, build.policy):
            y = self._kept()(x)
        else:
            y = tf.matmul(x, build.policy.operand(kernel))
        y = call.keep(f'{name}/MatMul', build.policy.result(y), self._writes)
        bias = build.policy.result(call.keep(f'{name}/bias', bias))
        y = clamped(call.keep(f'{name}/BiasAdd', build.policy.result(y + bias), self._writes), self._limit, build)
        return y if self.after is None else self.after(y, call)

    def _kept(self) -> HalfKernel:
        if self._half is None:
            with tf.init_scope():
                self._half = HalfKernel(self.weights.effective(PLAIN_CALL), self._build.policy)
        return self._half


class BatchNormAfter(tf.Module):
    """The vendor's advice: a BatchNorm behind a convolution (gamma 1, beta 0 until trained)."""

    def __init__(self, build: Build, scope: str, channels: int) -> None:
        super().__init__()
        self._build, self.scope = build, scope
        self.gamma = build.variable(f'{scope}/gamma', [channels], ONES)
        self.beta = build.variable(f'{scope}/beta', [channels], ZEROS)
        self.running = RunningStandardize(build, scope, channels, None)  # a norm_after conv refuses exponents

    def __call__(self, x: tf.Tensor, call: Call) -> tf.Tensor:
        store = self._build.policy.vector
        product = store(store(tf.convert_to_tensor(self.gamma)) * self.running(x, call))
        return call.keep(f'{self.scope}/add_1', store(product + store(tf.convert_to_tensor(self.beta))))

    def folded_into(self, kernel: tf.Tensor, bias: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor]:
        """(kernel, bias) of the one convolution that equals convolution and normalisation, in float32."""
        mean, variance = self.running.stored()
        scale = self.gamma * tf.math.rsqrt(variance + EPSILON)
        return kernel * scale, (bias - mean) * scale + self.beta


class LayerNormAfter(tf.Module):
    """The vendor's advice for the MLP: a LayerNorm behind a dense layer (gamma 1, beta 0 until trained)."""

    def __init__(self, build: Build, scope: str, features: int) -> None:
        super().__init__()
        self._build, self.scope = build, scope
        self._standardize = STATISTICS[build.variant('statistics', scope, 'norm')]
        self.gamma = build.variable(f'{scope}/gamma', [features], ONES)
        self.beta = build.variable(f'{scope}/beta', [features], ZEROS)

    def __call__(self, x: tf.Tensor, call: Call) -> tf.Tensor:
        store = self._build.policy.vector
        x_hat = self._standardize(x, (1,), EPSILON, self._build.policy)
        product = store(store(tf.convert_to_tensor(self.gamma)) * x_hat)
        return call.keep(f'{self.scope}/add_1', store(product + store(tf.convert_to_tensor(self.beta))))


def clamp_limit(guard: str, parameters: Tuple[str, ...]) -> Optional[float]:
    """The limit that a guard variant sets, None for any but clamp."""
    return (float(parameters[0]) if parameters else 256.0) if guard == 'clamp' else None


def clamped(y: tf.Tensor, limit: Optional[float], build: Build) -> tf.Tensor:
    """y within +-limit. As in StyleGAN2, a clamp is a float16 measure: float32 results stay untouched."""
    if limit is None or build.policy.result_format.name == 'float32':
        return y
    return tf.clip_by_value(y, -limit, limit)
