"""What a training step costs, and what its measures bring: time, memory, and the machine's limit in the same run.

    python -m benchmarks.bench_training_step                       # light, 64 px, ch 16: a few minutes on two cores
    python -m benchmarks.bench_training_step --full                # light, 256 px, ch 64, n_dis 6: an hour, 12 GB

Kinds of a step, all with the same arithmetic (their losses are compared):

    fused            what train.py does on a CPU: by the identities of ugatit.nn.algebra, if ch is 32 or more
    plain            with --config.training.algebra=plain: the same without them
    recomputed       fused, with --config.training.recompute=True: activations of the fakes are not kept
    straightforward  the discriminators' update computes its fakes, the generators' update computes them again, and
                     every picture goes through a network in a call of its own; plain

They take turns in one process, with a float32 matrix product of TensorFlow between them: time * its rate is the cost in
GFLOP. Peaks are measured in a process each: of the whole process, and over what there is when the variables are. Exit
code 3 where the fused step is slower than the straightforward one. Linux only (`/proc/self/status`); on a GPU the
allocator's own peak is used.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import statistics
import sys
import time
from typing import Any, Callable, Dict, List

from benchmarks import machine, timing

KINDS = ('fused', 'plain', 'recomputed', 'straightforward')
SAME = 1e-4  # the first losses of all steps agree within this share


def main() -> int:
    """Each measurement in a process of its own."""
    options = _parse()
    if options.part:
        print(json.dumps(PARTS[options.part](options)))
        return 0
    results = _in_process('time')
    peaks = {kind: _in_process(f'peak_{kind}') for kind in options.kinds.split(',')}
    for name in ('peak_bytes', 'process_peak_bytes'):
        results[name] = {kind: peak[name] for kind, peak in peaks.items()}
    machine.show(results, options, _table(results))
    return 0 if results['straightforward_over_fused'] >= 1.0 else 3


def measure_time(options: argparse.Namespace) -> Dict[str, Any]:
    """Seconds and cost of a step of each kind, and of the first calls, which trace it."""
    kinds = options.kinds.split(',')
    steps = {kind: make_step(options, kind) for kind in kinds}
    first: Dict[str, float] = {}
    losses: Dict[str, Dict[str, float]] = {}
    for kind, step in steps.items():
        first[kind] = round(timing.timed(lambda step=step, kind=kind: losses.update({kind: _numbers(step)})), 1)
    for found in losses.values():
        expected = losses[kinds[-1]]
        assert all(abs(found[k] - v) <= SAME * abs(v) for k, v in expected.items()), (found, expected)
    cpu: Dict[str, List[float]] = {kind: [] for kind in kinds}  # of all threads: other work on the machine counts less
    runs = {kind: (lambda kind=kind: cpu[kind].append(_cpu_seconds(steps[kind]))) for kind in kinds}
    costs = timing.costs(runs, options.repeats, warm=0)
    over = {kind: statistics.median(values) for kind, values in timing.ratios(costs.seconds, kinds[0]).items()}
    over_cpu = {kind: statistics.median(values) for kind, values in timing.ratios(cpu, kinds[0]).items()}
    return {
        **machine.facts(),
        'size': {
            name: getattr(options, name) for name in ('image_size', 'ch', 'n_res', 'n_dis', 'batch_size', 'gan_type')
        },
        'repeats': options.repeats,
        'matmul_gflop_per_second': round(statistics.median(costs.rate), 1),
        'matmul_quartiles': timing.quartiles(costs.rate, 1),
        'first_call_seconds': first,
        'seconds': timing.medians(costs.seconds),
        'gflop': timing.medians(costs.gflop, 2),
        'gflop_quartiles': {kind: timing.quartiles(values, 2) for kind, values in costs.gflop.items()},
        'cpu_seconds': timing.medians(cpu),
        **{f'{kind}_over_fused': round(ratio, 3) for kind, ratio in over.items()},
        **{f'{kind}_over_fused_cpu': round(ratio, 3) for kind, ratio in over_cpu.items()},
    }


def measure_peak(kind: str) -> Callable[[argparse.Namespace], Dict[str, Any]]:
    """Peak memory of two steps, of the process and over what is there when the variables are."""

    def measure(options: argparse.Namespace) -> Dict[str, Any]:
        step = make_step(options, kind)
        base = machine.resident_bytes()
        for _ in range(2):
            step()
        peak = machine.peak_bytes()
        return {'peak_bytes': _gpu_peak() or peak - base, 'process_peak_bytes': peak}

    return measure


def make_step(options: argparse.Namespace, kind: str) -> Callable[[], Dict[str, Any]]:
    """A function without arguments that does one traced step on fixed pictures and returns its losses."""
    import tensorflow as tf

    from ugatit.nn.algebra import LEAST_CH
    from ugatit.nn.architecture import Architecture
    from ugatit.nn.build import Build
    from ugatit.training.networks import build_networks
    from ugatit.training.objective import Objective
    from ugatit.training.optimiser import make_optimisers
    from ugatit.training.step import TrainingStep, exact_graphs
    from ugatit.training.update import Training

    architecture = Architecture(options.image_size, options.ch, options.n_res, options.n_dis, light=True)
    algebra = kind in ('fused', 'recomputed') and options.ch >= LEAST_CH
    networks = build_networks(architecture, lambda scope: Build(algebra=algebra))
    training = Training(networks, make_optimisers(networks), Objective(options.gan_type))
    shape = [options.batch_size, options.image_size, options.image_size, 3]
    images = tuple(tf.random.stateless_uniform(shape, [1, domain], -1.0, 1.0) for domain in range(2))
    fused = TrainingStep(dataclasses.replace(training, recompute=kind == 'recomputed'))
    if kind != 'straightforward':
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


def _numbers(step: Callable[[], Dict[str, Any]]) -> Dict[str, float]:
    return {name: float(value) for name, value in step().items()}  # waits for the result


def _cpu_seconds(step: Callable[[], Dict[str, Any]]) -> float:
    begin = time.process_time()
    _numbers(step)
    return time.process_time() - begin


def _gpu_peak() -> int:
    """The allocator's peak on the first GPU; 0 without one."""
    import tensorflow as tf

    if not tf.config.list_physical_devices('GPU'):
        return 0
    return int(tf.config.experimental.get_memory_info('GPU:0')['peak'])


def _in_process(part: str) -> Dict[str, Any]:
    return machine.in_process('benchmarks.bench_training_step', [f'--part={part}', *sys.argv[1:]])


def _table(results: Dict[str, Any]) -> str:
    columns = (
        'step',
        'seconds',
        'GFLOP',
        'over fused',
        'of processor time',
        'GB over the variables',
        'GB of the process',
    )
    rows = [
        [
            kind,
            results['seconds'][kind],
            results['gflop'][kind],
            results[f'{kind}_over_fused'],
            results[f'{kind}_over_fused_cpu'],
            *(round(results[name][kind] / 1e9, 2) for name in ('peak_bytes', 'process_peak_bytes')),
        ]
        for kind in results['seconds']
    ]
    return machine.table(columns, rows)


PARTS: Dict[str, Callable[[argparse.Namespace], Dict[str, Any]]] = {
    'time': measure_time,
    **{f'peak_{kind}': measure_peak(kind) for kind in KINDS},
}


def _parse() -> argparse.Namespace:
    parser = machine.parser(__doc__)
    parser.add_argument('--full', action='store_true', help='the official size of the light model')
    parser.add_argument('--image_size', type=int, help='side of the picture, pixels (64)')
    parser.add_argument('--ch', type=int, help='channels of the first convolution (16)')
    parser.add_argument('--n_res', type=int, default=4, help='residual blocks (4)')
    parser.add_argument('--n_dis', type=int, help='depth of the global discriminator (5)')
    parser.add_argument('--batch_size', type=int, default=1)
    parser.add_argument('--gan_type', default='lsgan')
    parser.add_argument('--repeats', type=int, help='timed steps of each kind (10)')
    parser.add_argument('--kinds', default=','.join(KINDS), help='fused first')
    parser.add_argument('--part', choices=sorted(PARTS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    usual = {'image_size': 256, 'ch': 64, 'n_dis': 6, 'repeats': 3} if options.full else {}
    for name, value in {'image_size': 64, 'ch': 16, 'n_dis': 5, 'repeats': 10, **usual}.items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    return options


if __name__ == '__main__':
    sys.exit(main())
