"""A few training steps on one device or several, as a program of its own: strategies want a fresh process.

    python -m tests.runners.replica_run OUTPUT.npz --devices=2 --steps=5

Several processes: TF_CONFIG in the environment. Writes every variable after the steps.
"""

from __future__ import annotations

import argparse
import os
import sys

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ['CUDA_VISIBLE_DEVICES'] = ''

import numpy as np
import tensorflow as tf

from tests.training.tiny import TINY, make_images
from ugatit.errors import UserError
from ugatit.nn.build import Build
from ugatit.nn.policy import make_policy
from ugatit.nn.variables import seeded
from ugatit.runners import Sharing, open_runner, read_worker
from ugatit.runners.runner import Runner
from ugatit.training.networks import build_networks
from ugatit.training.objective import Objective
from ugatit.training.optimiser import make_optimisers
from ugatit.training.penalty import stateless_noise
from ugatit.training.precision import FOLLOWING, FullPrecision, MixedPrecision
from ugatit.training.state import official_state
from ugatit.training.step import TrainingStep
from ugatit.training.update import Training


def main() -> int:
    options = _parse()
    tf.config.run_functions_eagerly(options.eager)
    try:
        runner = open_runner('cpu', sharing=Sharing(options.devices, worker=read_worker(os.environ)))
        with runner.scope():
            training = _training(runner, options)
            step = TrainingStep(training)
            for k in range(options.steps):
                losses = step(k, make_images(k, count=2))
                print('done', k + 1, flush=True)
            state = {name: variable.numpy() for name, variable in official_state(training).items()}
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    except Exception as error:
        print(runner.explain(error) or f'not explained: {type(error).__name__} {error}', file=sys.stderr, flush=True)
        os._exit(3)  # the strategy's threads still wait for the others
    np.savez(options.output, **state, **{f'loss/{name}': value.numpy() for name, value in losses.items()})
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument('output')
    parser.add_argument('--devices', type=int, default=1)
    parser.add_argument('--steps', type=int, default=5)
    parser.add_argument('--gan_type', default='lsgan')
    parser.add_argument('--precision', default='float32')
    parser.add_argument('--ranges', default='live', choices=('live', 'none'))
    parser.add_argument('--eager', action='store_true')
    parser.add_argument('--algebra', action='store_true', help='by the identities of ugatit.nn.algebra')
    return parser.parse_args()


def _training(runner: Runner, options: argparse.Namespace) -> Training:
    precision = FullPrecision()
    if options.precision != 'float32':
        following = FOLLOWING if options.ranges == 'live' else None
        policy = make_policy(options.precision, 'saturate')
        precision = MixedPrecision(policy, TINY, following=following, loss_scale=2.0**6)

    def build(scope: str) -> Build:
        return Build(precision.policy, precision.scaling(scope), factory=seeded(5), algebra=options.algebra)

    networks = build_networks(TINY, build)
    return Training(networks, make_optimisers(networks), Objective(options.gan_type),
                    stateless_noise(0, runner.replicas, runner.replica),
                    precision=precision, device=runner)  # fmt: skip


if __name__ == '__main__':
    sys.exit(main())
