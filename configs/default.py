"""Every setting of a training run, with its default: those of the official code and the paper.

    python train.py --config=configs/default.py --dataset=dataset/NAME --workdir=runs/NAME

Any field can be changed on the command line, `--config.training.epochs=50`; a mistyped one is an error. Other files
here start from this one and change what their docstring says. Weights are floats: write 1000.0, not 1000.
"""

from __future__ import annotations

from ml_collections import ConfigDict, config_dict


def get_config() -> ConfigDict:
    """All sections, locked: fields can be changed, none can be added."""
    config = ConfigDict()
    config.training = _training()
    config.model = _model()
    config.data = _data()
    config.numerics = _numerics()
    return config.lock()


def _training() -> ConfigDict:
    training = ConfigDict()
    training.seed = 0  # of initial weights, picture order, augmentation and penalty noise
    training.batch_size = 1  # pictures of each domain per step
    training.learning_rate = 1e-4  # Adam's, both optimisers; constant, then linear to 0 per epoch
    training.epochs = 100  # the run has epochs * steps_per_epoch steps
    training.steps_per_epoch = 10_000  # official flag `iteration`; not the size of the data set
    training.decay_epoch = 50  # the learning rate starts to fall after so many epochs
    training.decay = True  # False: constant learning rate throughout
    training.n_critic = 1  # discriminator updates per generator update
    training.two_batches = False  # True: the generators' update draws a batch of its own, as the official code does
    training.gan_type = 'lsgan'  # lsgan, gan, dragan, hinge, wgan-gp or wgan-lp
    training.adversarial_weight = 1.0  # of the adversarial terms of both networks
    training.cycle_weight = 10.0  # A -> B -> A against A; more keeps more of the input
    training.identity_weight = 10.0  # B -> B against B; keeps colours
    training.cam_weight = 1000.0  # of the attention's classifier; 0.0 switches the term off
    training.gradient_penalty_weight = 10.0  # dragan, wgan-gp and wgan-lp only
    training.l2 = 1e-4  # scale of the L2 term on kernels
    training.batch_momentum = 0.9  # of running statistics, where a variant has batch norms
    training.recompute = False  # True: less memory, some 6 % slower; not with batch normalisation
    training.algebra = 'auto'  # the same sums with fewer operations where that pays: on a CPU, ch >= 32; or 'plain'
    training.log_every = 10  # steps between two rows of losses.csv and points in TensorBoard
    training.save_every = 1000  # steps between two checkpoints (full model: 8 GB each)
    training.sample_every = 1000  # steps between two sample strips and rho histograms
    training.keep = 3  # so many checkpoints stay, the newest
    training.warn_after = 1000  # steps that something must look wrong before a warning
    return training


def _model() -> ConfigDict:
    model = ConfigDict()
    model.image_size = 256  # side of the square, pixels; a multiple of 4, at least 3 * 2**(n_dis - 1)
    model.ch = 64  # channels of the first convolution; 32 needs a quarter of the memory
    model.n_res = 4  # residual blocks of the encoder, and of the decoder
    model.n_dis = 6  # depth of the global discriminator
    model.light = False  # True: the MLP reads a global average; a fifth of the weights, any picture size afterwards
    model.smoothing = True  # AdaLIN uses clip(rho - 0.1, 0, 1)
    model.sn = True  # spectral norm in the discriminators
    model.cam_generator = True  # attention in the generators (False: the paper's ablation)
    model.cam_discriminator = True  # attention in the discriminators
    model.variants = 'default'  # a preset under configs/variants, or the path of a .py file
    return model


def _data() -> ConfigDict:
    data = ConfigDict()
    data.name = config_dict.placeholder(str)  # in the checkpoint folder's name; None: the folder's own name
    data.train_a = config_dict.placeholder(str)  # a folder in place of DATASET/trainA; None: that one
    data.train_b = config_dict.placeholder(str)  # of DATASET/trainB
    data.test_a = config_dict.placeholder(str)  # of DATASET/testA, for samples; missing: training pictures
    data.test_b = config_dict.placeholder(str)  # of DATASET/testB
    data.augment = True  # flip, enlarge and crop half of the pictures
    data.resize = 'stretch'  # stretch (official), pad or crop: how a picture becomes a square
    data.filter = 'antialiased'  # antialiased, official (OpenCV's) or official_train (TensorFlow 1's)
    data.background = 'white'  # shows through transparent parts
    data.max_pixels = 100_000_000  # larger files count as broken
    data.on_broken = 'fail'  # fail: stop before training where a picture cannot be read; skip: go on without it
    data.recursive = False  # look into subfolders too
    data.cache_share = 0.25  # of the free memory that decoded pictures may take; 0.0: read the files every time
    data.samples = 4  # test pictures of each domain in a sample strip
    return data


def _numerics() -> ConfigDict:
    numerics = ConfigDict()
    numerics.precision = 'float32'  # or mixed_bfloat16, mixed_float16, float16, float16_operands: see README.md
    numerics.overflow = 'ieee'  # or saturate, as on an Ascend 910
    # What follows matters where something is float16: docs/float16_training.md
    numerics.ranges = 'auto'  # live: exponents follow the values; none: plain float16; auto: live where it is float16
    numerics.headroom_bits = 2.0  # powers of two between the largest recent value and 65504
    numerics.range_history = 16  # steps that count as recent
    numerics.loss_scale = 1024.0  # before the first step; a power of two, halved until that step fits
    numerics.loss_scale_steps = 1000  # usable updates in a row after which it doubles; it halves after an overflow
    return numerics
