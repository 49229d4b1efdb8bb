"""A whole run of the smallest network as one worker of two, eager, as a program of its own: see test_replicas.py.

python -m tests.runners.train_run PICTURES WORKDIR [--die=STEP]
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ['CUDA_VISIBLE_DEVICES'] = ''

import logging

import tensorflow as tf

from tests.training.tiny_run import make_settings
from ugatit.errors import UserError
from ugatit.runners import Sharing, open_runner, read_worker
from ugatit.training.run import train


def main(pictures: str, workdir: str, die: str = '') -> int:
    logging.basicConfig(level=logging.INFO, format='%(message)s')
    tf.config.run_functions_eagerly(True)
    step = int(die.partition('=')[2] or 0)

    def look(done: int) -> None:
        if done == step:
            os.kill(os.getpid(), 9)

    try:
        runner = open_runner('cpu', sharing=Sharing(worker=read_worker(os.environ)))
        settings = make_settings(batch_size=2, save_every=1, epochs=3, steps_per_epoch=1)
        train(settings, pictures, workdir, runner, make_pace=lambda done, total: lambda done, losses: look(done))
    except UserError as error:
        print(f'error: {error}', flush=True)
        return 2
    return 0


if __name__ == '__main__':
    code = main(*sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
