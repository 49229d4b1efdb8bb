"""U-GAT-IT in float64 NumPy: dull, slow and obvious, written from the specification and not from `ugatit/nn`.

Nothing here imports the package. Weights are a mapping from official variable name to array; what the network looks
like beyond that is read off the names where they say it (a `batch_norm` behind a convolution) and passed in where not.
Pictures are [N, H, W, C], kernels [height, width, in, out].

Corners:
- A constant slice has variance 0, so x_hat is 0 / sqrt(epsilon) = 0 exactly, and the output is beta.
- An all-zero kernel has sigma 0. The official code would divide 0 by 0; here and in the package it stays zero.
- The pooled maximum has no ties to break: only its value is used.
- LeakyReLU of -0.0 is -0.0; ReLU of NaN is NaN (np.maximum passes NaN on), as in TensorFlow.
- Infinite weights or pictures are nobody's business: they give NaN or inf, and no test compares them.
"""

from __future__ import annotations

from typing import Callable, Dict, Mapping, NamedTuple, Optional, Tuple

import numpy as np

EPSILON = 1e-5
SLOPE = 0.2
Weights = Mapping[str, np.ndarray]
Kinds = Callable[[str], Optional[str]]  # layer -> the kind of normalisation there, None for the paper's


class GeneratorResult(NamedTuple):
    """Everything in float64."""

    image: np.ndarray  # [N, H, W, 3]
    cam_logits: Optional[np.ndarray]  # [N, 2]
    heatmap: np.ndarray  # [N, H / 4, W / 4]


class BranchResult(NamedTuple):
    """One branch of a discriminator."""

    logits: np.ndarray  # [N, h, w, 1]
    cam_logits: Optional[np.ndarray]  # [N, 2]
    heatmap: np.ndarray  # [N, h', w']


class DiscriminatorResult(NamedTuple):
    """Both branches, and what one power iteration made of every `u`."""

    local: BranchResult
    global_: BranchResult
    u_after: Dict[str, np.ndarray]


# ---------------------------------------------------------------------------------------------- normalisation


def standardize(x: np.ndarray, axes: Tuple[int, ...], epsilon: float = EPSILON) -> np.ndarray:
    """(x - mean) / sqrt(variance + epsilon), biased variance: what every way of computing x_hat aims at.

    A power-of-two prescaled x_hat aims at the same number: dividing x by s and epsilon by s^2 cancels.
    """
    x = np.asarray(x, np.float64)
    mean = x.mean(axes, keepdims=True)
    variance = ((x - mean) ** 2).mean(axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon)


def instance(x: np.ndarray) -> np.ndarray:
    return standardize(x, (1, 2))


def layer(x: np.ndarray) -> np.ndarray:
    return standardize(x, (1, 2, 3))


def mixed(x: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """LIN and AdaLIN; `rho` as it is used, so after smoothing."""
    return rho * instance(x) + (1.0 - rho) * layer(x)


def group(x: np.ndarray, groups: int) -> np.ndarray:
    """Neighbouring channels belong together: channel c is in group c // (C / groups)."""
    parts = np.split(np.asarray(x, np.float64), groups, axis=3)
    return np.concatenate([standardize(part, (1, 2, 3)) for part in parts], axis=3)


def batch(x: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """With given statistics, one per channel: an affine map."""
    return (x - mean) / np.sqrt(variance + EPSILON)


def batch_statistics(x: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Mean and biased variance of each channel over N, H, W."""
    mean = np.asarray(x, np.float64).mean((0, 1, 2))
    return mean, ((x - mean) ** 2).mean((0, 1, 2))


def x_hat(kind: str, x: np.ndarray, w: Weights, scope: str, smoothing: bool = False) -> np.ndarray:
    """x_hat of any kind, 'group:8' included; `smoothing` is AdaLIN's."""
    name, *parameters = kind.split(':')
    if name in ('instance', 'adaptive_instance'):
        return instance(x)
    if name == 'layer':
        return layer(x)
    if name == 'group':
        return group(x, int(parameters[0]) if parameters and parameters[0].isdigit() else min(32, x.shape[3]))
    if name == 'batch':
        return batch(x, w[f'{scope}/moving_mean'], w[f'{scope}/moving_variance'])
    if name == 'none':
        return x
    rho = w[f'{scope}/rho']
    if name == 'adaptive_layer_instance' and smoothing:
        rho = np.clip(rho - 0.1, 0.0, 1.0)
    return mixed(x, rho)


# ---------------------------------------------------------------------------------------------------- layers


def relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0.0)


def leaky_relu(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x, SLOPE * x)


def reflect_pad(x: np.ndarray, before: int, after: int) -> np.ndarray:
    return np.pad(x, [(0, 0), (before, after), (before, after), (0, 0)], mode='reflect')


def convolve(x: np.ndarray, kernel: np.ndarray, stride: int, pad: int) -> np.ndarray:
    """Reflect pad, then VALID: one matrix product for each position in the kernel."""
    size = kernel.shape[0]
    if pad:
        # An odd difference pads more at bottom and right, or, as for 3x3 with stride 2, less: nothing.
        x = reflect_pad(x, pad, pad if (size - stride) % 2 == 0 else size - stride - pad)
    rows = (x.shape[1] - size) // stride + 1
    columns = (x.shape[2] - size) // stride + 1
    y = np.zeros((x.shape[0], rows, columns, kernel.shape[3]))
    for i in range(size):
        for j in range(size):
            y += x[:, i : i + rows * stride : stride, j : j + columns * stride : stride] @ kernel[i, j]
    return y


def upsample(x: np.ndarray) -> np.ndarray:
    return x.repeat(2, axis=1).repeat(2, axis=2)


def l2_normalized(x: np.ndarray) -> np.ndarray:
    return x / (np.sqrt((x**2).sum()) + 1e-12)


def spectral_norm(kernel: np.ndarray, u: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """One power iteration from `u`: (kernel / sigma, the new u)."""
    matrix = kernel.reshape(-1, kernel.shape[-1])
    v = l2_normalized(u @ matrix.T)
    u = l2_normalized(v @ matrix)
    sigma = float((v @ matrix @ u.T)[0, 0])
    return (kernel if sigma == 0 else kernel / sigma), u


class Layers:
    """Layers by official scope. `kinds` names other normalisations; `vectors` collects every new u."""

    def __init__(self, weights: Weights, kinds: Kinds, smoothing: bool) -> None:
        self.w = {name: np.asarray(value, np.float64) for name, value in weights.items()}
        self._kinds, self._smoothing = kinds, smoothing
        self.vectors: Dict[str, np.ndarray] = {}

    def conv(self, scope: str, x: np.ndarray, stride: int = 1, pad: int = 0) -> np.ndarray:
        kernel, bias = self.kernel_and_bias(scope, 'conv2d')
        y = convolve(x, kernel, stride, pad) + bias
        after = f'{scope}/batch_norm'  # the vendor's advice: a BatchNorm behind the convolution
        return self._affine(after, x_hat('batch', y, self.w, after)) if f'{after}/gamma' in self.w else y

    def dense(self, scope: str, x: np.ndarray) -> np.ndarray:
        kernel, bias = self.kernel_and_bias(scope, 'dense')
        y = x @ kernel + bias
        after = f'{scope}/layer_norm'
        return self._affine(after, standardize(y, (1,))) if f'{after}/gamma' in self.w else y

    def kernel_and_bias(self, scope: str, kind: str) -> Tuple[np.ndarray, np.ndarray]:
        """With spectral norm the variables lie directly under the scope, with a `u` beside them."""
        if f'{scope}/kernel' not in self.w:
            scope = f'{scope}/{kind}'
        kernel = self.w[f'{scope}/kernel']
        if f'{scope}/u' in self.w:
            kernel, self.vectors[f'{scope}/u'] = spectral_norm(kernel, self.w[f'{scope}/u'])
        return kernel, self.w[f'{scope}/bias']

    def norm(self, scope: str, x: np.ndarray, default: str, gamma=None, beta=None) -> np.ndarray:
        """gamma and beta of its own where it has some, else the given ones."""
        kind = self._kinds(scope)
        y = x_hat(default if kind in (None, 'default') else kind, x, self.w, scope, self._smoothing)
        return self._affine(scope, y) if f'{scope}/gamma' in self.w else gamma * y + beta

    def _affine(self, scope: str, y: np.ndarray) -> np.ndarray:
        return self.w[f'{scope}/gamma'] * y + self.w[f'{scope}/beta']

    def cam(self, scope: str, x: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """(features for conv_1x1, logits). The bias is part of every attention weight, as in the official code."""
        kernel, bias = self.kernel_and_bias(f'{scope}/CAM_logit', 'dense')
        logits = np.concatenate([x.mean((1, 2)) @ kernel + bias, x.max((1, 2)) @ kernel + bias], axis=1)
        weighted = x * (kernel + bias)[:, 0]
        return np.concatenate([weighted, weighted], axis=3), logits


# -------------------------------------------------------------------------------------------------- networks


def generator(
    weights: Weights,
    scope: str,
    x: np.ndarray,
    *,
    light: bool,
    smoothing: bool = True,
    n_res: int = 4,
    cam: bool = True,
    kinds: Kinds = lambda scope: None,
) -> GeneratorResult:
    """x [N, H, W, 3] in [-1, 1]."""
    layers = Layers(weights, kinds, smoothing)
    x = np.asarray(x, np.float64)
    x = relu(layers.norm(f'{scope}/ins_norm', layers.conv(f'{scope}/conv', x, 1, 3), 'instance'))
    for i in (0, 1):
        x = relu(layers.norm(f'{scope}/ins_norm_{i}', layers.conv(f'{scope}/conv_{i}', x, 2, 1), 'instance'))
    for i in range(n_res):
        x = _block(layers, f'{scope}/resblock_{i}', x, 'instance_norm', 'instance', None, None)
    logits = None
    if cam:
        x, logits = layers.cam(scope, x)
    x = relu(layers.conv(f'{scope}/conv_1x1', x))
    heatmap = x.sum(3)
    gamma, beta = _mlp(layers, f'{scope}/MLP', x, light)
    for i in range(n_res):
        block = f'{scope}/adaptive_resblock{i}'
        x = _block(layers, block, x, 'instance_layer_norm', 'adaptive_layer_instance', gamma, beta)
    for i in (0, 1):
        x = layers.conv(f'{scope}/up_conv_{i}', upsample(x), 1, 1)
        x = relu(layers.norm(f'{scope}/layer_ins_norm_{i}', x, 'layer_instance'))
    return GeneratorResult(np.tanh(layers.conv(f'{scope}/G_logit', x, 1, 3)), logits, heatmap)


def _block(layers: Layers, scope: str, x: np.ndarray, leaf: str, kind: str, gamma, beta) -> np.ndarray:
    y = relu(layers.norm(f'{scope}/res1/{leaf}', layers.conv(f'{scope}/res1/conv_0', x, 1, 1), kind, gamma, beta))
    return x + layers.norm(f'{scope}/res2/{leaf}', layers.conv(f'{scope}/res2/conv_0', y, 1, 1), kind, gamma, beta)


def _mlp(layers: Layers, scope: str, x: np.ndarray, light: bool) -> Tuple[np.ndarray, np.ndarray]:
    x = x.mean((1, 2)) if light else x.reshape(len(x), -1)
    x = relu(layers.dense(f'{scope}/linear_1', relu(layers.dense(f'{scope}/linear_0', x))))
    gamma, beta = layers.dense(f'{scope}/gamma', x), layers.dense(f'{scope}/beta', x)
    return gamma[:, None, None, :], beta[:, None, None, :]


def discriminator(weights: Weights, scope: str, x: np.ndarray, *, n_dis: int, cam: bool = True) -> DiscriminatorResult:
    """x [N, H, W, 3] in [-1, 1]; spectral norm where the weights have a `u`."""
    layers = Layers(weights, lambda scope: None, False)
    x = np.asarray(x, np.float64)
    local = _branch(layers, f'{scope}/local', x, n_dis - 4, cam)
    return DiscriminatorResult(local, _branch(layers, f'{scope}/global', x, n_dis - 2, cam), layers.vectors)


def _branch(layers: Layers, scope: str, x: np.ndarray, depth: int, cam: bool) -> BranchResult:
    for i in range(depth + 1):
        x = leaky_relu(layers.conv(f'{scope}/conv_{i}', x, 2, 1))
    x = leaky_relu(layers.conv(f'{scope}/conv_last', x, 1, 1))
    logits = None
    if cam:
        x, logits = layers.cam(scope, x)
    x = leaky_relu(layers.conv(f'{scope}/conv_1x1', x))
    return BranchResult(layers.conv(f'{scope}/D_logit', x, 1, 1), logits, x.sum(3))
