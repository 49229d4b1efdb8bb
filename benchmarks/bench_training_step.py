"""What the fused training step saves against a straightforward one, in time and in peak memory.

    python -m benchmarks.bench_training_step                       # light, 64 px, ch 16: a few minutes on two cores
    python -m benchmarks.bench_training_step --full                # light, 256 px, ch 64, n_dis 6: an hour, 12 GB

Straightforward means: the discriminators' update computes its fakes, the generators' update computes them again, and
every picture goes through a network in a call of its own. Both do the same arithmetic (the losses are compared). Times
are taken in one process, the two steps in turn; peaks in a process each, over what the variables need. Prints JSON;
exit code 3 where the fused step is slower. Linux only (`/proc/self/status`); on a GPU the allocator's own peak is used.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import time
from typing import Any, Callable, Dict, List

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
KINDS = ('fused', 'straightforward')
SAME = 1e-4  # the first losses of both steps agree within this share


def main() -> int:
    """Each measurement in a process of its own."""
    options = _parse()
    if options.part:
        print(json.dumps(PARTS[options.part](options)))
        return 0
    results = _in_process('time')
    peaks = {kind: _in_process(f'peak_{kind}')['peak_bytes'] for kind in KINDS}
    results['peak_bytes'] = peaks
    results['straightforward_over_fused_memory'] = round(peaks['straightforward'] / peaks['fused'], 3)
    print(json.dumps(results, indent=1))
    return 0 if results['straightforward_over_fused_time'] >= 1.0 else 3


def measure_time(options: argparse.Namespace) -> Dict[str, Any]:
    """Median seconds of a step, and of its first call, which traces it."""
    import tensorflow as tf

    steps = {kind: make_step(options, kind) for kind in KINDS}
    first = {kind: _timed(step) for kind, step in steps.items()}
    runs: Dict[str, List[Dict[str, Any]]] = {kind: [] for kind in KINDS}
    for _ in range(options.repeats):
        for kind, step in steps.items():
            runs[kind].append(_timed(step))
    seconds, cpu = (
        {k: statistics.median(r[f] for r in rs) for k, rs in runs.items()} for f in ('seconds', 'cpu_seconds')
    )
    left, right = (first[kind]['losses'] for kind in KINDS)
    assert all(abs(left[k] - right[k]) <= SAME * abs(right[k]) for k in right), (left, right)
    return {
        'python': platform.python_version(),
        'tensorflow': tf.__version__,
        'devices': [device.name for device in tf.config.list_physical_devices()],
        'size': {
            name: getattr(options, name) for name in ('image_size', 'ch', 'n_res', 'n_dis', 'batch_size', 'gan_type')
        },
        'repeats': options.repeats,
        'first_call_seconds': {kind: round(run['seconds'], 1) for kind, run in first.items()},
        'seconds': {kind: round(value, 4) for kind, value in seconds.items()},
        'cpu_seconds': {kind: round(value, 4) for kind, value in cpu.items()},  # of all threads: other work counts less
        'straightforward_over_fused_time': round(seconds['straightforward'] / seconds['fused'], 3),
        'straightforward_over_fused_cpu': round(cpu['straightforward'] / cpu['fused'], 3),
    }


def measure_peak(kind: str) -> Callable[[argparse.Namespace], Dict[str, Any]]:
    """Peak memory of two steps, over what is there when the variables are."""

    def measure(options: argparse.Namespace) -> Dict[str, Any]:
        step = make_step(options, kind)
        base = _resident('VmRSS')
        for _ in range(2):
            step()
        return {'peak_bytes': _gpu_peak() or _resident('VmHWM') - base}

    return measure


def make_step(options: argparse.Namespace, kind: str) -> Callable[[], Dict[str, Any]]:
    """A function without arguments that does one traced step on fixed pictures and returns its losses."""
    import tensorflow as tf

    from ugatit.nn.architecture import Architecture
    from ugatit.nn.build import Build
    from ugatit.training.networks import build_networks
    from ugatit.training.objective import Objective
    from ugatit.training.optimiser import make_optimisers
    from ugatit.training.step import TrainingStep, exact_graphs
    from ugatit.training.update import Training

    architecture = Architecture(options.image_size, options.ch, options.n_res, options.n_dis, light=True)
    networks = build_networks(architecture, lambda scope: Build(own_gradients=kind == 'fused'))
    training = Training(networks, make_optimisers(networks), Objective(options.gan_type))
    shape = [options.batch_size, options.image_size, options.image_size, 3]
    images = tuple(tf.random.stateless_uniform(shape, [1, domain], -1.0, 1.0) for domain in range(2))
    fused = TrainingStep(training)
    if kind in ('fused', 'operators'):
        return lambda: fused(0, images)
    discriminators = tf.function(lambda batch: straightforward_discriminators(training, batch))
    generators = tf.function(lambda batch: straightforward_generators(training, batch))

    def separate() -> Dict[str, Any]:
        batch = fused.batch(0, images)
        with exact_graphs():
            return {**discriminators(batch), **generators(batch)}

    return separate


def straightforward_discriminators(training: Any, batch: Any) -> Dict[str, Any]:
    """Fakes, real and fake judged in calls of their own, gradients, Adam."""
    import tensorflow as tf

    from ugatit.training.losses import l2, over
    from ugatit.training.networks import advance_power_iterations, trainable_of
    from ugatit.training.penalty import gradient_penalty

    networks, objective, adam = training.networks, training.objective, training.optimisers.discriminators
    call = training.call(advance_power_iterations(networks))
    variables, losses = list(adam.variables_trained.values()), {}
    fake_b = networks.generator_b(batch.images_a, call).image
    fake_a = networks.generator_a(batch.images_b, call).image
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(variables)
        for domain, judge, real, fake in (
            ('A', networks.discriminator_a, batch.images_a, tf.stop_gradient(fake_a)),
            ('B', networks.discriminator_b, batch.images_b, tf.stop_gradient(fake_b)),
        ):
            true, false, gan = judge(real, call), judge(fake, call), objective.gan
            loss = over(gan.real, true.logits + true.cam_logits) + over(gan.fake, false.logits + false.cam_logits)
            noise = training.noise(domain, real, batch.steps_done)
            penalty = gradient_penalty(judge, gan, real, fake, noise, call)
            losses[f'D_{domain}_loss'] = objective.adversarial * (loss + objective.gradient_penalty * penalty)
        total = tf.add_n(list(losses.values())) + l2(trainable_of(networks.discriminators), objective.l2)
    adam.apply(tape.gradient(total, variables), batch.learning_rate)
    return losses


def straightforward_generators(training: Any, batch: Any) -> Dict[str, Any]:
    """Six generator calls, one for each picture, and one gradient of the whole sum."""
    import tensorflow as tf

    from ugatit.training.losses import cam_loss, l1
    from ugatit.training.networks import Fakes, advance_power_iterations
    from ugatit.training.objective import fake_losses, generator_totals

    networks, adam, weights = training.networks, training.optimisers.generators, training.objective
    call = training.call(advance_power_iterations(networks))
    variables, a2b, b2a = list(adam.variables_trained.values()), networks.generator_b, networks.generator_a
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(variables)
        fakes = Fakes(a2b(batch.images_a, call), b2a(batch.images_b, call))
        parts = fake_losses(weights, networks, fakes, call)
        for domain, other, home, images, away in (
            ('A', 'B', b2a, batch.images_a, fakes.b.image),
            ('B', 'A', a2b, batch.images_b, fakes.a.image),
        ):
            identity = home(images, call)
            parts[f'G_{other}_cycle'] = weights.cycle * l1(home(away, call).image, images)
            parts[f'G_{domain}_identity'] = weights.identity * l1(identity.image, images)
            parts[f'G_{domain}_cam_identity'] = weights.cam * cam_loss(0.0, identity.cam_logits)
        losses = generator_totals(parts)
    adam.apply(tape.gradient(losses['Generator_loss'], variables), batch.learning_rate)
    return losses


def _timed(step: Callable[[], Dict[str, Any]]) -> Dict[str, Any]:
    start, start_cpu = time.perf_counter(), time.process_time()
    losses = {name: float(value) for name, value in step().items()}  # waits for the result
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - start_cpu
    return {'seconds': seconds, 'cpu_seconds': cpu_seconds, 'losses': losses}


def _resident(field: str) -> int:
    """Bytes from /proc/self/status: VmRSS is the memory held now, VmHWM the most so far."""
    match = re.search(rf'{field}:\s+(\d+) kB', pathlib.Path('/proc/self/status').read_text())
    return int(match.group(1)) * 1024


def _gpu_peak() -> int:
    """The allocator's peak on the first GPU; 0 without one."""
    import tensorflow as tf

    if not tf.config.list_physical_devices('GPU'):
        return 0
    return int(tf.config.experimental.get_memory_info('GPU:0')['peak'])


def _in_process(part: str) -> Dict[str, Any]:
    program = [sys.executable, '-m', 'benchmarks.bench_training_step', f'--part={part}', *sys.argv[1:]]
    result = subprocess.run(program, cwd=REPOSITORY, stdout=subprocess.PIPE, check=True)
    return json.loads(result.stdout.decode().splitlines()[-1])


PARTS: Dict[str, Callable[[argparse.Namespace], Dict[str, Any]]] = {
    'time': measure_time,
    **{f'peak_{kind}': measure_peak(kind) for kind in KINDS},
}


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--full', action='store_true', help='the official size of the light model')
    parser.add_argument('--image_size', type=int, help='side of the picture, pixels (64)')
    parser.add_argument('--ch', type=int, help='channels of the first convolution (16)')
    parser.add_argument('--n_res', type=int, default=4, help='residual blocks (4)')
    parser.add_argument('--n_dis', type=int, help='depth of the global discriminator (5)')
    parser.add_argument('--batch_size', type=int, default=1)
    parser.add_argument('--gan_type', default='lsgan')
    parser.add_argument('--repeats', type=int, help='timed steps of each kind (10)')
    parser.add_argument('--part', choices=sorted(PARTS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    usual = {'image_size': 256, 'ch': 64, 'n_dis': 6, 'repeats': 3} if options.full else {}
    for name, value in {'image_size': 64, 'ch': 16, 'n_dis': 5, 'repeats': 10, **usual}.items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    return options


if __name__ == '__main__':
    sys.exit(main())
