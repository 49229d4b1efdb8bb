"""The generator (paper section 2.1): encoder with CAM, MLP, AdaLIN decoder."""

from __future__ import annotations

from typing import NamedTuple, Optional, Tuple

import tensorflow as tf

from ugatit.nn.architecture import Architecture
from ugatit.nn.build import Build
from ugatit.nn.call import PLAIN_CALL, Call
from ugatit.nn.cam import Cam
from ugatit.nn.layers import Conv, Dense
from ugatit.nn.network import Network
from ugatit.nn.norm import Norm
from ugatit.nn.policy import wide

# Range groups that more than one layer writes; every other group is named after the one layer that writes it.
ENCODER = 'encoder'  # the encoder's residual stream: ins_norm_1, every res2/instance_norm and add
CAM = 'cam'  # features weighted by the attention
DECODER = 'decoder'  # the AdaLIN residual stream: conv_1x1, gamma, beta, every AdaLIN output and add


class GeneratorOutput(NamedTuple):
    """One pass of the generator; all float32."""

    image: tf.Tensor  # [N, H, W, 3] in [-1, 1]
    cam_logits: Optional[tf.Tensor]  # [N, 2]: average, max pooling; None without CAM
    heatmap: tf.Tensor  # [N, H / 4, W / 4]

    @property
    def image_or_logits(self) -> tf.Tensor:
        return self.image


class Generator(Network):
    """`generator_B` maps domain A to B (direction a2b), `generator_A` maps B to A."""

    def __init__(self, architecture: Architecture, scope: str, build: Optional[Build] = None) -> None:
        super().__init__(architecture, scope, build or Build())
        a, ch, features, build = architecture, architecture.ch, architecture.features, self.build

        def conv(
            layer: str,
            inputs: int,
            outputs: int,
            kernel: int,
            stride: int,
            pad: int,
            reads: Optional[str],
            writes: Optional[str] = None,
        ) -> Conv:
            return Conv(
                build, f'{scope}/{layer}', inputs, outputs, kernel, stride, pad, reads=reads, writes=writes or layer
            )

        def norm(layer: str, channels: int, place: str, reads: str, writes: Optional[str] = None) -> Norm:
            return Norm(build, f'{scope}/{layer}', channels, place, reads, writes or layer)

        self.conv = conv('conv', 3, ch, 7, 1, 3, None)
        self.ins_norm = norm('ins_norm', ch, 'instance', 'conv')
        self.conv_0 = conv('conv_0', ch, 2 * ch, 3, 2, 1, 'ins_norm')
        self.ins_norm_0 = norm('ins_norm_0', 2 * ch, 'instance', 'conv_0')
        self.conv_1 = conv('conv_1', 2 * ch, features, 3, 2, 1, 'ins_norm_0')
        self.ins_norm_1 = norm('ins_norm_1', features, 'instance', 'conv_1', ENCODER)
        self.resblocks = [
            ResidualBlock(build, f'{scope}/resblock_{i}', f'resblock_{i}', features, ENCODER) for i in range(a.n_res)
        ]
        self.cam = Cam(build, scope, features, reads=ENCODER, writes=CAM) if a.cam_generator else None
        inputs, reads = (2 * features, CAM) if a.cam_generator else (features, ENCODER)
        self.conv_1x1 = conv('conv_1x1', inputs, features, 1, 1, 0, reads, DECODER)
        self.mlp = Mlp(build, f'{scope}/MLP', a)
        self.adaptive_resblocks = [
            ResidualBlock(
                build, f'{scope}/adaptive_resblock{i}', f'adaptive_resblock{i}', features, DECODER, True, a.smoothing
            )
            for i in range(a.n_res)
        ]
        self.up_conv_0 = conv('up_conv_0', features, 2 * ch, 3, 1, 1, DECODER)
        self.layer_ins_norm_0 = norm('layer_ins_norm_0', 2 * ch, 'layer_instance', 'up_conv_0')
        self.up_conv_1 = conv('up_conv_1', 2 * ch, ch, 3, 1, 1, 'layer_ins_norm_0')
        self.layer_ins_norm_1 = norm('layer_ins_norm_1', ch, 'layer_instance', 'up_conv_1')
        # Tanh is not homogeneous: what it reads has exponent 0 always, so the group has no name.
        self.g_logit = Conv(build, f'{scope}/G_logit', ch, 3, 7, 1, 3, reads='layer_ins_norm_1', writes=None)

    def __call__(self, images: tf.Tensor, call: Call = PLAIN_CALL) -> GeneratorOutput:
        """images [N, H, W, 3] float32 in [-1, 1]; H, W multiples of 4, and the architecture's size for full models."""
        x, cam_logits = self._encode(images, call)
        x = self._relu(self.conv_1x1(x, call), call, 'Relu_3', DECODER)
        heatmap = call.keep(f'{self.scope}/Squeeze', self.heatmap(x, call, self.scope, DECODER))
        gamma, beta = self.mlp(x, call)
        for block in self.adaptive_resblocks:
            x = block(x, call, gamma, beta)
        image = self._decode(x, call)
        return GeneratorOutput(image, None if cam_logits is None else wide(cam_logits), wide(heatmap))

    def _encode(self, x: tf.Tensor, call: Call) -> Tuple[tf.Tensor, Optional[tf.Tensor]]:
        x = self._relu(self.ins_norm(self.conv(x, call), call), call, 'Relu', 'ins_norm')
        x = self._relu(self.ins_norm_0(self.conv_0(x, call), call), call, 'Relu_1', 'ins_norm_0')
        x = self._relu(self.ins_norm_1(self.conv_1(x, call), call), call, 'Relu_2', ENCODER)
        for block in self.resblocks:
            x = block(x, call)
        return (x, None) if self.cam is None else self.cam(x, call)

    def _decode(self, x: tf.Tensor, call: Call) -> tf.Tensor:
        x = self.layer_ins_norm_0(self.up_conv_0(x, call, f'{self.scope}/ResizeNearestNeighbor'), call)
        x = self._relu(x, call, 'Relu_4', 'layer_ins_norm_0')
        x = self.layer_ins_norm_1(self.up_conv_1(x, call, f'{self.scope}/ResizeNearestNeighbor_1'), call)
        x = self._relu(x, call, 'Relu_5', 'layer_ins_norm_1')
        x = self.build.policy.vector(self.g_logit(x, call))
        return call.keep(f'{self.scope}/Tanh', wide(self.build.policy.vector(tf.tanh(x))))

    def _relu(self, x: tf.Tensor, call: Call, name: str, group: str) -> tf.Tensor:
        return call.keep(f'{self.scope}/{name}', tf.nn.relu(x), group)


class ResidualBlock(tf.Module):
    """conv, norm, ReLU, conv, norm, + input; no ReLU after the sum. Adaptive blocks get gamma and beta per call."""

    def __init__(
        self,
        build: Build,
        scope: str,
        name: str,
        channels: int,
        stream: str,
        adaptive: bool = False,
        smoothing: bool = False,
    ) -> None:
        super().__init__()
        self._build, self.scope, self._stream = build, scope, stream
        place, leaf = ('adaptive', 'instance_layer_norm') if adaptive else ('instance', 'instance_norm')
        first, second = f'{name}/res1/conv_0', f'{name}/res2/conv_0'
        # gamma and beta are shared by all AdaLIN layers, so the first one's output is bound to the stream's exponent.
        self._inner = stream if adaptive else f'{name}/res1/{leaf}'
        self.conv_first = Conv(build, f'{scope}/res1/conv_0', channels, channels, 3, 1, 1, reads=stream, writes=first)
        self.norm_first = Norm(build, f'{scope}/res1/{leaf}', channels, place, first, self._inner, smoothing)
        self.conv_second = Conv(
            build, f'{scope}/res2/conv_0', channels, channels, 3, 1, 1, reads=self._inner, writes=second
        )
        self.norm_second = Norm(build, f'{scope}/res2/{leaf}', channels, place, second, stream, smoothing)

    def __call__(
        self, x: tf.Tensor, call: Call, gamma: Optional[tf.Tensor] = None, beta: Optional[tf.Tensor] = None
    ) -> tf.Tensor:
        """x [N, H, W, C] at the stream's scale; gamma, beta [N, 1, 1, C] for adaptive blocks."""
        y = self.norm_first(self.conv_first(x, call), call, gamma, beta)
        y = call.keep(f'{self.scope}/res1/Relu', tf.nn.relu(y), self._inner)
        y = self.norm_second(self.conv_second(y, call), call, gamma, beta)
        store = self._build.policy.vector
        return call.keep(f'{self.scope}/add', store(store(x) + y), self._stream)


class Mlp(tf.Module):
    """gamma and beta of every AdaLIN layer from the attended features: pooled (light) or flattened (full)."""

    def __init__(self, build: Build, scope: str, architecture: Architecture) -> None:
        super().__init__()
        self._build, self.scope, self._light = build, scope, architecture.light
        features = architecture.features
        inputs = features if architecture.light else features * (architecture.image_size // 4) ** 2
        first, second = 'MLP/linear_0', 'MLP/linear_1'
        self._groups = first, second
        self.linear_0 = Dense(build, f'{scope}/linear_0', inputs, features, reads=DECODER, writes=first)
        self.linear_1 = Dense(build, f'{scope}/linear_1', features, features, reads=first, writes=second)
        self.gamma = Dense(build, f'{scope}/gamma', features, features, reads=second, writes=DECODER)
        self.beta = Dense(build, f'{scope}/beta', features, features, reads=second, writes=DECODER)

    def __call__(self, x: tf.Tensor, call: Call) -> Tuple[tf.Tensor, tf.Tensor]:
        """x [N, H, W, C] -> gamma, beta, [N, 1, 1, C] each, at the scale of the AdaLIN stream."""
        if self._light:
            network = self.scope.rpartition('/')[0]
            pooled = self._build.policy.vector(tf.reduce_mean(wide(x), [1, 2]))
            x = call.keep(f'{network}/Mean_1', pooled, DECODER)
        else:
            x = tf.reshape(x, [-1, x.shape[1] * x.shape[2] * x.shape[3]])
        for layer, group, name in zip((self.linear_0, self.linear_1), self._groups, ('Relu', 'Relu_1')):
            x = call.keep(f'{self.scope}/{name}', tf.nn.relu(layer(x, call)), group)
        gamma, beta = self.gamma(x, call), self.beta(x, call)
        shape = [-1, 1, 1, gamma.shape[-1]]
        return (
            call.keep(f'{self.scope}/Reshape', tf.reshape(gamma, shape), DECODER),
            call.keep(f'{self.scope}/Reshape_1', tf.reshape(beta, shape), DECODER),
        )
