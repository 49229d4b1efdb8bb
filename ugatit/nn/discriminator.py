"""The discriminator: a local and a global branch, each with a CAM of its own."""

from __future__ import annotations

from typing import Dict, NamedTuple, Optional, Tuple

import tensorflow as tf

from ugatit.nn.architecture import Architecture
from ugatit.nn.build import Build
from ugatit.nn.call import PLAIN_CALL, Call, SingularVectors
from ugatit.nn.cam import Cam
from ugatit.nn.layers import Conv, power_iteration
from ugatit.nn.network import Network
from ugatit.nn.policy import wide
from ugatit.nn.variables import assign_here

SLOPE = 0.2  # of LeakyReLU for negative values, official code


class BranchOutput(NamedTuple):
    """One branch's judgement; all float32, true values."""

    logits: tf.Tensor  # [N, h, w, 1]
    cam_logits: Optional[tf.Tensor]  # [N, 2]: average, max pooling; None without CAM
    heatmap: tf.Tensor  # [N, h', w']


class DiscriminatorOutput(NamedTuple):
    """Both branches; attributes in the official order, local first."""

    local: BranchOutput
    global_: BranchOutput

    @property
    def logits(self) -> Tuple[tf.Tensor, tf.Tensor]:
        return self.local.logits, self.global_.logits

    @property
    def cam_logits(self) -> Tuple[Optional[tf.Tensor], Optional[tf.Tensor]]:
        return self.local.cam_logits, self.global_.cam_logits

    @property
    def image_or_logits(self) -> Tuple[tf.Tensor, tf.Tensor]:
        return self.logits


class Discriminator(Network):
    """`discriminator_A` judges pictures of domain A, `discriminator_B` those of B."""

    def __init__(self, architecture: Architecture, scope: str, build: Optional[Build] = None) -> None:
        super().__init__(architecture, scope, build or Build())
        architecture.check_discriminator_size()
        self.local = Branch(self, 'local', architecture.n_dis - 4)
        self.global_ = Branch(self, 'global', architecture.n_dis - 2)

    def __call__(self, images: tf.Tensor, call: Call = PLAIN_CALL) -> DiscriminatorOutput:
        """images [N, H, W, 3] float32 in [-1, 1]. Stored `u` never change here: see `power_iterations`."""
        return DiscriminatorOutput(self.local(images, call), self.global_(images, call))

    def power_iterations(self) -> Dict[str, SingularVectors]:
        """Kernel name -> the vectors after one iteration from the stored `u`; all passes of one update share them."""
        with self.build.keep_float32():
            return {
                name: power_iteration(self.named_variables[name], variable)
                for name, variable in ((_kernel_of(u), v) for u, v in self.named_variables.items() if u.endswith('/u'))
            }

    def store(self, vectors: Dict[str, SingularVectors]) -> None:
        """Assigns the new `u` of one update's power iterations."""
        for name, pair in vectors.items():
            assign_here(self.named_variables[f'{name.rpartition("/")[0]}/u'], pair.u)


def _kernel_of(u: str) -> str:
    return f'{u.rpartition("/")[0]}/kernel'


class Branch(tf.Module):
    """conv_0, conv_1 .. conv_depth (stride 2), conv_last, CAM, conv_1x1, D_logit.

    No normalisation takes exponents away again, so they run to the logits, which are multiplied back.
    """

    def __init__(self, network: Network, name: str, depth: int) -> None:
        super().__init__()
        a, build, scope = network.architecture, network.build, f'{network.scope}/{name}'
        self._network, self._name, self.scope = network, name, scope

        def conv(layer: str, inputs: int, outputs: int, stride: int, reads: Optional[str]) -> Conv:
            return Conv(build, f'{scope}/{layer}', inputs, outputs, 4, stride, 1,
                        reads=reads, writes=f'{name}/{layer}', spectral=a.sn)  # fmt: skip

        self.convs = [conv('conv_0', 3, a.ch, 2, None)]
        channels, last = a.ch, f'{name}/conv_0'
        for i in range(1, depth + 1):
            self.convs.append(conv(f'conv_{i}', channels, 2 * channels, 2, last))
            channels, last = 2 * channels, f'{name}/conv_{i}'
        self.convs.append(conv('conv_last', channels, 2 * channels, 1, last))
        channels, last = 2 * channels, f'{name}/conv_last'
        self.cam = None
        inputs = channels
        if a.cam_discriminator:
            self.cam = Cam(build, scope, channels, reads=last, writes=f'{name}/cam', spectral=a.sn)
            inputs, last = 2 * channels, f'{name}/cam'
        self._features, self._logit = f'{name}/conv_1x1', f'{name}/D_logit'
        self.conv_1x1 = Conv(build, f'{scope}/conv_1x1', inputs, channels, 1, reads=last, writes=self._features)
        self.d_logit = conv('D_logit', channels, 1, 1, self._features)

    def __call__(self, x: tf.Tensor, call: Call) -> BranchOutput:
        """x [N, H, W, 3] float32 in [-1, 1]."""
        for i, layer in enumerate(self.convs):
            name = 'LeakyRelu' if i == 0 else f'LeakyRelu_{i}'
            group = layer.scope.partition('/')[2]
            x = call.keep(f'{self.scope}/{name}', self._lrelu(layer(x, call)), group)
        cam_logits = None
        if self.cam is not None:
            x, cam_logits = self.cam(x, call)
        x = self._lrelu(self.conv_1x1(x, call))
        x = call.keep(f'{self.scope}/LeakyRelu_{len(self.convs)}', x, self._features)
        heatmap = call.keep(f'{self.scope}/Squeeze', self._network.heatmap(x, call, self.scope, self._features))
        scaling = self._network.build.scaling
        logits = wide(scaling.restore(self.d_logit(x, call), self._logit))
        return BranchOutput(logits, None if cam_logits is None else wide(cam_logits), wide(heatmap))

    def _lrelu(self, x: tf.Tensor) -> tf.Tensor:
        vector = self._network.build.policy.vector
        return vector(tf.nn.leaky_relu(vector(x), SLOPE))
