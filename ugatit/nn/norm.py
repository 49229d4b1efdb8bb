"""Normalisation layers: one x_hat per kind, then * gamma + beta from the layer's own variables or from the MLP."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, ContextManager, Dict, Optional, Tuple, Union

import tensorflow as tf

from ugatit.errors import UserError
from ugatit.nn.algebra.standardized import standardized
from ugatit.nn.build import Build
from ugatit.nn.call import Call
from ugatit.nn.policy import wide
from ugatit.nn.rules import split_variant
from ugatit.nn.standardize import INSTANCE_AXES, LAYER_AXES, STATISTICS
from ugatit.nn.variables import ONES, ZEROS, assign_here
from ugatit.numerics import FLOAT32

EPSILON = 1e-5  # official code, inside the square root, everywhere
PLACES: Dict[str, str] = {
    'instance': 'instance',
    'adaptive': 'adaptive_layer_instance',
    'layer_instance': 'layer_instance',
}
"""What `default` means at each kind of place (paper, section 2.1.1)."""


class RunningStandardize(tf.Module):
    """Batch normalisation's x_hat: running statistics at inference, the batch's while they are being measured."""

    def __init__(self, build: Build, scope: str, channels: int, reads: Optional[str]) -> None:
        super().__init__()
        self._build, self._reads, self.scope = build, reads, scope
        self.mean = build.variable(f'{scope}/moving_mean', [channels], ZEROS, False)
        self._mean_rule = build.fold_rule(f'{scope}/moving_mean', reads, None, -1, 0)
        self.variance = build.variable(f'{scope}/moving_variance', [channels], ONES, False)
        self._variance_rule = build.fold_rule(f'{scope}/moving_variance', reads, None, -2, 0)
        build.registry.running[scope] = self

    def __call__(self, x: tf.Tensor, call: Call) -> tf.Tensor:
        """x [N, H, W, C] -> x_hat in the vector format; an affine map at inference."""
        store = self._build.policy.vector
        mean, variance = self._batch(x, call) if call.batch_momentum is not None else self.stored()
        inverse = tf.math.rsqrt(variance + self._build.scaling.epsilon(EPSILON, self._reads))
        return store(store(store(x) - store(mean)) * store(inverse))

    def stored(self) -> Tuple[tf.Tensor, tf.Tensor]:
        """Running mean and variance, [C] each, at the scale of the stored input."""
        apply = self._build.scaling.apply
        return apply(self.mean, self._mean_rule), apply(self.variance, self._variance_rule)

    def _batch(self, x: tf.Tensor, call: Call) -> Tuple[tf.Tensor, tf.Tensor]:
        with self._build.keep_float32():
            mean, variance = tf.nn.moments(wide(x), [0, 1, 2])
        unapply = self._build.scaling.unapply
        self._update(self.mean, unapply(mean, self._mean_rule), call)
        self._update(self.variance, unapply(variance, self._variance_rule), call)
        return mean, variance

    def _update(self, variable: tf.Variable, value: tf.Tensor, call: Call) -> None:
        momentum = call.batch_momentum
        assign_here(variable, momentum * variable + (1.0 - momentum) * tf.stop_gradient(value))


class Norm(tf.Module):
    """One normalisation place of the network; rules decide what stands there and how its statistics are computed."""

    def __init__(
        self, build: Build, scope: str, channels: int, place: str, reads: str, writes: str, smoothing: bool = False
    ) -> None:
        super().__init__()
        self._build, self.scope, self._reads, self._writes = build, scope, reads, writes
        self.kind, parameters = _resolve(build.variant('norm', scope, 'norm'), scope, place)
        self._standardize = STATISTICS[build.variant('statistics', scope, 'norm')]
        wide_vectors = build.policy.vector_format is FLOAT32 and self._standardize is STATISTICS['plain']
        self._algebra = build.algebra and wide_vectors
        self._smoothing = smoothing and self.kind == 'adaptive_layer_instance'
        self._adaptive = place == 'adaptive' and 'own' not in parameters
        self._groups = _group_count(self.kind, parameters, channels, scope)
        self._x_hat = _X_HAT[self.kind]
        build.join(scope, self.kind != 'none', reads)
        build.join(scope, True, writes)
        self._make_variables(channels, place)

    def _make_variables(self, channels: int, place: str) -> None:
        build, scope = self._build, self.scope
        self.rho = self.gamma = self.beta = self.running = None
        if self.kind.endswith('layer_instance'):
            self.rho = build.variable(f'{scope}/rho', [channels], ONES if place == 'adaptive' else ZEROS)
        if self.kind == 'batch':
            self.running = RunningStandardize(build, scope, channels, self._reads)
        if not self._adaptive:
            names = ('beta', 'gamma') if place == 'instance' else ('gamma', 'beta')  # the official order
            for name in names:
                made = build.variable(f'{scope}/{name}', [channels], ONES if name == 'gamma' else ZEROS)
                setattr(self, name, made)
            self._gamma_rule = build.fold_rule(f'{scope}/gamma', None, self._writes, 0, -1)
            self._beta_rule = build.fold_rule(f'{scope}/beta', None, self._writes, 0, -1)

    def __call__(
        self, x: tf.Tensor, call: Call, gamma: Optional[tf.Tensor] = None, beta: Optional[tf.Tensor] = None
    ) -> tf.Tensor:
        """x [N, H, W, C]; gamma, beta [N, 1, 1, C] at adaptive places -> [N, H, W, C] at the written group's scale."""
        store = self._build.policy.vector
        if not self._adaptive:
            gamma = self._build.scaling.apply(self.gamma, self._gamma_rule)
            beta = self._build.scaling.apply(self.beta, self._beta_rule)
        x_hat = self._x_hat(self, x, call)
        # The product alone can pass 65504 where the sum does not: it is a stored result of its own.
        # (The official instance norm multiplies in another order: its `instancenorm/mul_1` is a different tensor.)
        product = call.keep(f'{self.scope}/mul_2', store(store(gamma) * x_hat), self._writes)
        return call.keep(f'{self.scope}/{self._sum_name}', store(product + store(beta)), self._writes)

    @property
    def _sum_name(self) -> str:
        return 'add_3' if self.rho is not None else 'instancenorm/add_1'

    def standardized(self, x: tf.Tensor, axes: Tuple[int, ...], call: Call, which: int = 0) -> tf.Tensor:
        """x_hat over the axes; `which` numbers the official names where two are computed."""

        def keep(suffix: str, value: tf.Tensor, power: int) -> tf.Tensor:
            head, slash, tail = suffix.partition('/')
            number = f'_{which}' if which else ''
            return call.keep(f'{self.scope}/{head}{number}{slash}{tail}', value, self._reads, power)

        if self._algebra and axes in (INSTANCE_AXES, LAYER_AXES):
            return keep('truediv', standardized(self._build.policy.vector(x), axes, self.epsilon()), 0)
        with self._scope():
            return self._standardize(x, axes, self.epsilon(), self._build.policy, keep)

    def epsilon(self) -> Union[float, tf.Tensor]:
        """Inside the square root, at the scale of the input as it is stored."""
        return self._build.scaling.epsilon(EPSILON, self._reads)

    def used_rho(self) -> tf.Tensor:
        """rho [C] as LIN and AdaLIN use it."""
        rho = tf.convert_to_tensor(self.rho)
        return tf.clip_by_value(rho - 0.1, 0.0, 1.0) if self._smoothing else rho

    def _scope(self) -> ContextManager[Any]:
        """The scope for float32 statistics, where these are float32."""
        float32 = self._build.policy.vector_format is FLOAT32 or self._standardize is STATISTICS['float32']
        return self._build.keep_float32() if float32 else contextlib.nullcontext()

    def mixed(self, x: tf.Tensor, call: Call) -> tf.Tensor:
        """LIN and AdaLIN: rho * instance + (1 - rho) * layer (paper, equation 1)."""
        store = self._build.policy.vector
        instance = self.standardized(x, INSTANCE_AXES, call)
        layer = self.standardized(x, LAYER_AXES, call, which=1)
        rho = self.used_rho()
        first = store(store(rho) * instance)
        second = store(store(1.0 - rho) * layer)
        return call.keep(f'{self.scope}/add_2', store(first + second))

    def grouped(self, x: tf.Tensor, call: Call) -> tf.Tensor:
        """Group normalisation: channels in G groups of neighbours, statistics over H, W and the group."""
        shape = tf.shape(x)
        channels = x.shape[-1] // self._groups
        split = tf.reshape(x, [shape[0], shape[1], shape[2], self._groups, channels])
        return tf.reshape(self.standardized(split, (1, 2, 4), call), shape)


XHat = Callable[[Norm, tf.Tensor, Call], tf.Tensor]
_X_HAT: Dict[str, XHat] = {
    'instance': lambda norm, x, call: norm.standardized(x, INSTANCE_AXES, call),
    'adaptive_instance': lambda norm, x, call: norm.standardized(x, INSTANCE_AXES, call),
    'layer': lambda norm, x, call: norm.standardized(x, LAYER_AXES, call),
    'layer_instance': lambda norm, x, call: norm.mixed(x, call),
    'adaptive_layer_instance': lambda norm, x, call: norm.mixed(x, call),
    'group': lambda norm, x, call: norm.grouped(x, call),
    'batch': lambda norm, x, call: norm.running(x, call),
    'none': lambda norm, x, call: norm._build.policy.vector(x),
}


def _resolve(variant: str, scope: str, place: str) -> Tuple[str, Tuple[str, ...]]:
    kind, parameters = split_variant(variant)
    kind = PLACES[place] if kind == 'default' else kind
    if kind.startswith('adaptive') and place != 'adaptive':
        raise UserError(
            f'{scope} has no MLP gamma and beta, so its norm cannot be {variant!r}; use instance, layer,'
            ' layer_instance, group, batch or none there.'
        )
    if 'own' in parameters and place != 'adaptive':
        raise UserError(f'{scope} has its own gamma and beta already, so {variant!r} says nothing there; drop ":own".')
    return kind, parameters


def _group_count(kind: str, parameters: Tuple[str, ...], channels: int, scope: str) -> int:
    if kind != 'group':
        return 1
    stated = [int(value) for value in parameters if value.isdigit()]
    groups = stated[0] if stated else min(32, channels)
    if channels % groups:
        raise UserError(
            f'{scope} has {channels} channels, which {groups} groups do not divide; choose group:G with G a divisor.'
        )
    return groups
