"""The class activation map: one weight per channel, shared by average and max pooling."""

from __future__ import annotations

from typing import NamedTuple, Optional

import tensorflow as tf

from ugatit.errors import UserError
from ugatit.nn.build import Build
from ugatit.nn.call import Call
from ugatit.nn.layers import Kernel, clamp_limit, clamped
from ugatit.nn.policy import wide
from ugatit.nn.rules import split_variant


class CamOutput(NamedTuple):
    """What the CAM gives: features for conv_1x1, and its classification of the two pooled vectors."""

    features: tf.Tensor  # [N, H, W, 2C], at the scale of the CAM's own range group
    logits: tf.Tensor  # [N, 2]: from average pooling, from max pooling; true values


class Cam(tf.Module):
    """Logits = pooled x kernel + bias; attention weights = kernel + bias, as the official code has it."""

    def __init__(
        self, build: Build, scope: str, channels: int, *, reads: str, writes: str, spectral: bool = False
    ) -> None:
        super().__init__()
        self._build, self.scope, self._writes, self._reads = build, scope, writes, reads
        layer = f'{scope}/CAM_logit'
        self.weights = Kernel(build, layer, [channels, 1], reads, writes, spectral)
        # The bias is added to every attention weight, so for range exponents it behaves like a kernel.
        self._bias_rule = build.fold_rule(f'{layer}/bias', reads, writes, 1, -1)
        guard, parameters = split_variant(build.variant('guard', layer, 'dense'))
        if guard == 'norm_after':
            raise UserError(
                f'{layer} gives one value per picture, of which a norm leaves nothing, so its guard cannot be'
                ' norm_after; use planned, plain or clamp there.'
            )
        self._limit: Optional[float] = clamp_limit(guard, parameters)
        build.join(layer, guard == 'planned', reads, writes)

    def __call__(self, x: tf.Tensor, call: Call) -> CamOutput:
        """x [N, H, W, C], at the scale of the read group."""
        build, scope = self._build, self.scope
        store = build.policy.vector
        mean = call.keep(f'{scope}/Mean', store(tf.reduce_mean(wide(x), [1, 2])), self._reads)
        by_mean, average_logit = self._attend(x, mean, call, 'CAM_logit', 'Mul')
        largest = call.keep(f'{scope}/Max', tf.reduce_max(x, [1, 2]), self._reads)
        by_max, max_logit = self._attend(x, largest, call, 'CAM_logit_1', 'Mul_1')
        logits = call.keep(f'{scope}/concat', tf.concat([average_logit, max_logit], -1))
        features = call.keep(f'{scope}/concat_1', tf.concat([by_mean, by_max], -1), self._writes)
        return CamOutput(features, logits)

    def logits(self, average: tf.Tensor, largest: tf.Tensor, call: Call) -> tf.Tensor:
        """[N, 2] from the two pooled vectors, [N, C] each, where the features are wanted in another way."""
        both = ((average, 'CAM_logit'), (largest, 'CAM_logit_1'))
        kernel = self.weights.effective(call)
        return tf.concat([self._logit(pooled, kernel, call, f'{self.scope}/{use}') for pooled, use in both], -1)

    def _attend(self, x: tf.Tensor, pooled: tf.Tensor, call: Call, use: str, product: str) -> tuple:
        build, scope = self._build, f'{self.scope}/{use}'
        kernel = self.weights.effective(call, scope)
        logit = self._logit(pooled, kernel, call, scope)
        bias = call.keep(f'{scope}/bias', build.scaling.apply(tf.convert_to_tensor(self.weights.bias), self._bias_rule))
        weight = call.keep(f'{scope}/BiasAdd', build.policy.vector(kernel + bias))
        weight = call.keep(f'{scope}/GatherV2', tf.reshape(weight, [-1]))
        weighted = build.policy.vector(build.policy.vector(x) * weight)
        return call.keep(f'{self.scope}/{product}', weighted, self._writes), logit

    def _logit(self, pooled: tf.Tensor, kernel: tf.Tensor, call: Call, scope: str) -> tf.Tensor:
        build, policy = self._build, self._build.policy
        name = f'{scope}/MatMul' if self.weights.u is None else f'{scope}/MatMul_4'  # after spectral norm's four
        pooled = policy.operand(call.keep(f'{scope}/input', pooled, self._reads))
        logit = tf.matmul(pooled, policy.operand(kernel))
        logit = call.keep(name, policy.result(logit), self._writes)
        bias = build.scaling.true_value(tf.convert_to_tensor(self.weights.bias), self._bias_rule)
        if build.scaling.planned:  # true values again, in float32: a logit enters a loss
            logit = build.scaling.restore(logit, self._writes) + bias
        else:
            logit = policy.result(logit + policy.result(bias))
        return call.keep(f'{scope}/add', clamped(logit, self._limit, build))
