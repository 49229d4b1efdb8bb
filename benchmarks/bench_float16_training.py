"""Does training in the float16 of an Ascend 910 follow float32, where plain float16 does not?

    python -m benchmarks.bench_float16_training --checkpoint=CKPT --images=DIR --output=DIR
    python -m benchmarks.bench_float16_training --checkpoint=CKPT --images=DIR --output=DIR --stress

Trains from a light generator checkpoint (with --stress: from one made to overflow, with the same float32 pictures) for
200 steps of 32 pixels, five times with the same pictures and random numbers:

    float32     the reference
    noise_1, 2  float32, every input value times 1 + 2**-11 * u, u uniform in [-1, 1]: GAN training is chaotic, and what
                rounds its inputs to float16 cannot be expected nearer to the reference than such a run
    planned     mixed_float16, saturating, emulated; loss scales, and exponents that follow the ranges
    plain       the same with loss scales alone, as a port would do it

Loss scales start at --loss_scale, are settled by the first step's gradients (from these checkpoints a scale of 1024
falls to 1 or less before the first update), and double after 50 usable updates.

Distances to the reference: of losses, the mean absolute difference of moving averages over 20 steps, as a share of the
reference's own mean, averaged over the terms; of pictures, the root mean square over both generators' pictures of all
images. Expected: planned is no farther than 1.5 times the mean of the two noisy runs, plain is. Prints JSON, writes
results.json and training.svg (matplotlib); exit code 3 where planned is farther. Runs already in the folder are
not repeated; those made with other options are refused. Float16 is emulated on the CPU; nothing here has run on an NPU.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
import time
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

LIMIT = 1.5
WINDOW = 20
TERMS = ('D_A_loss', 'D_B_loss', 'G_A_gan', 'G_B_gan', 'G_A_cycle', 'G_B_cycle', 'G_A_identity', 'G_B_identity',
         'G_A_cam', 'G_B_cam')  # fmt: skip
RUNS = {
    'float32': ('float32', None),
    'noise_1': ('float32', 1),
    'noise_2': ('float32', 2),
    'planned': ('planned', None),
    'plain': ('plain', None),
}
"""Name -> (arithmetic, seed of the noise)."""


def main() -> int:
    """Trains what is missing, measures, draws, prints."""
    options = _parse()
    folder = pathlib.Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    generators = _stressed(options, folder) if options.stress else options.checkpoint
    made: Dict[str, Any] = {}
    for name, (arithmetic, noise) in RUNS.items():
        path = folder / f'{name}.npz'
        if not _is_there(path, options):
            made[arithmetic] = made.get(arithmetic) or _Trainer(options, generators, arithmetic)
            np.savez(path, **made[arithmetic].run(name, noise))
            path.with_suffix('.json').write_text(json.dumps(_what(name, options), indent=1))
    runs = {name: dict(np.load(folder / f'{name}.npz')) for name in RUNS}
    results = _measure(runs, options)
    (folder / 'results.json').write_text(json.dumps(results, indent=1))
    _draw(folder / 'training.svg', runs, results)
    print(json.dumps(results, indent=1))
    return 0 if max(results['planned_over_chaos'].values()) <= LIMIT else 3


def _what(name: str, options: argparse.Namespace) -> Dict[str, Any]:
    """What a run depends on."""
    found = {key: value for key, value in vars(options).items() if key != 'output'}
    if RUNS[name][0] == 'float32':
        del found['loss_scale']
    return found


def _is_there(path: pathlib.Path, options: argparse.Namespace) -> bool:
    if not path.exists():
        return False
    beside = path.with_suffix('.json')
    before, now = json.loads(beside.read_text()) if beside.exists() else {}, _what(path.stem, options)
    changed = [f'--{key} was {before.get(key)!r}, now {now[key]!r}' for key in now if before.get(key) != now[key]]
    if changed:
        sys.exit(f'{path} was made with other options ({"; ".join(changed)}); use another --output.')
    return True


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--checkpoint', required=True, help='a light model; discriminators are taken where they fit')
    parser.add_argument('--images', required=True, help='folder with female_*.jpg (domain A) and [0-9]*.png (domain B)')
    parser.add_argument('--output', required=True)
    parser.add_argument('--stress', action='store_true', help='first make the generators overflow')
    parser.add_argument('--steps', type=int, default=200)
    parser.add_argument('--size', type=int, default=32)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--loss_scale', type=float, default=1024.0, help='before the first step')
    return parser.parse_args()


def _load(options: argparse.Namespace) -> Tuple[List[np.ndarray], List[np.ndarray]]:
    from ugatit.data.dataset import Loading

    loading, root = Loading(options.size), pathlib.Path(options.images)
    return tuple([loading.load(path) for path in sorted(root.glob(g))] for g in ('female_*.jpg', '[0-9]*.png'))


def _stressed(options: argparse.Namespace, folder: pathlib.Path) -> str:
    """Generators with the decoder's values at the size of the reported case."""
    from ugatit.data.convert import to_float
    from ugatit.diagnosis.stress import stress

    target = folder / 'stressed'
    if not target.exists():
        images_a, images_b = (np.stack([to_float(x) for x in images]) for images in _load(options))
        stress(options.checkpoint, target, {'a2b': images_a, 'b2a': images_b}, image_size=options.size)
    return str(target)


class _Trainer:
    """One kind of arithmetic, compiled once; `run` starts from the checkpoint every time."""

    def __init__(self, options: argparse.Namespace, generators: str, arithmetic: str) -> None:
        import dataclasses

        from ugatit.checkpoints import CheckpointReader, architecture_of, checkpoint_factory
        from ugatit.nn.architecture import GENERATORS
        from ugatit.nn.build import Build
        from ugatit.nn.policy import make_policy
        from ugatit.nn.variables import seeded
        from ugatit.ranges.follow import Following
        from ugatit.training.networks import build_networks
        from ugatit.training.objective import Objective
        from ugatit.training.optimiser import make_optimisers
        from ugatit.training.precision import FullPrecision, MixedPrecision
        from ugatit.training.state import official_state
        from ugatit.training.step import TrainingStep
        from ugatit.training.update import Training

        reader, judges = CheckpointReader(generators), CheckpointReader(options.checkpoint)
        architecture = architecture_of(reader, GENERATORS).architecture
        architecture = dataclasses.replace(architecture, image_size=options.size, n_dis=4)
        self.precision = FullPrecision()
        if arithmetic != 'float32':
            following = Following() if arithmetic == 'planned' else None
            policy = make_policy('mixed_float16', 'saturate')
            self.precision = MixedPrecision(policy, architecture, following=following, growth_steps=50,
                                            loss_scale=options.loss_scale)  # fmt: skip
        fresh = seeded(options.seed)
        factories = {
            'g': checkpoint_factory(reader, fallback=fresh),
            'd': checkpoint_factory(judges, fallback=fresh) if judges.groups()['discriminators'] else fresh,
        }
        self.networks = build_networks(
            architecture,
            lambda scope: Build(self.precision.policy, self.precision.scaling(scope), factory=factories[scope[0]]),
        )
        self._training = Training(self.networks, make_optimisers(self.networks), Objective(), precision=self.precision)
        self._state = official_state(self._training)
        self._start = {name: variable.numpy() for name, variable in self._state.items()}
        self._step, self._options = TrainingStep(self._training), options
        self._images = _load(options)

    def run(self, name: str, noise: Optional[int]) -> Dict[str, np.ndarray]:
        """Losses and numerics of every step, and the pictures of the trained generators."""
        for key, variable in self._state.items():
            variable.assign(self._start[key])
        rows: List[Dict[str, float]] = []
        began = time.time()
        for step in range(self._options.steps):
            found = self._step(step, self._batch(step, noise))
            rows.append({key: float(value) for key, value in found.items()})
            if step % 10 == 0:
                print(f'{name}: step {step}, {time.time() - began:.0f} s', file=sys.stderr, flush=True)
        columns = {key: np.array([row[key] for row in rows]) for key in rows[0]}
        return {**columns, 'pictures': self._pictures()}

    def _batch(self, step: int, noise: Optional[int]) -> Tuple[np.ndarray, np.ndarray]:
        from ugatit.data.augment import augment, picture_indices, random_state
        from ugatit.data.convert import to_float

        batch, seed = [], self._options.seed
        for domain, images in zip('AB', self._images):
            (index,) = picture_indices(seed, domain, step, 1, len(images))
            picture = to_float(augment(images[index], random_state(seed, 'augment', domain, step)))
            if noise is not None:
                shift = random_state(noise, 'noise', domain, step).uniform(-1, 1, picture.shape)
                picture = picture * (1.0 + 2.0**-11 * shift)
            batch.append(picture[None].astype(np.float32))
        return tuple(batch)

    def _pictures(self) -> np.ndarray:
        from ugatit.data.convert import to_float

        pairs = zip((self.networks.generator_b, self.networks.generator_a), self._images)
        return np.concatenate(
            [network(np.stack([to_float(x) for x in images])).image.numpy() for network, images in pairs]
        )


def _averaged(values: np.ndarray) -> np.ndarray:
    return np.convolve(values, np.ones(WINDOW) / WINDOW, 'valid')


def _loss_distance(run: Dict[str, np.ndarray], reference: Dict[str, np.ndarray]) -> float:
    shares = []
    for term in TERMS:
        ours, theirs = _averaged(run[term]), _averaged(reference[term])
        shares.append(np.mean(np.abs(ours - theirs)) / np.mean(np.abs(theirs)))
    return float(np.mean(shares))


def _picture_distance(run: Dict[str, np.ndarray], reference: Dict[str, np.ndarray]) -> float:
    return float(np.sqrt(np.mean(np.square(run['pictures'] - reference['pictures']))))


def _measure(runs: Dict[str, Dict[str, np.ndarray]], options: argparse.Namespace) -> Dict[str, Any]:
    measures = {'losses': _loss_distance, 'pictures': _picture_distance}
    distances = {
        name: {what: measure(runs[name], runs['float32']) for what, measure in measures.items()}
        for name in RUNS
        if name != 'float32'
    }
    chaos = {what: float(np.mean([distances[name][what] for name in ('noise_1', 'noise_2')])) for what in measures}
    return {
        'steps': options.steps,
        'image_size': options.size,
        'stressed': options.stress,
        'distance_to_float32': distances,
        'chaos': chaos,
        'planned_over_chaos': {what: distances['planned'][what] / chaos[what] for what in measures},
        'plain_over_chaos': {what: distances['plain'][what] / chaos[what] for what in measures},
        'limit': LIMIT,
        'numerics_at_the_end': {
            name: {k: float(v[-1]) for k, v in runs[name].items() if k.startswith(('skipped', 'loss_sc', 'exponent'))}
            for name in ('planned', 'plain')
        },
    }


def _draw(target: pathlib.Path, runs: Dict[str, Dict[str, np.ndarray]], results: Dict[str, Any]) -> None:
    try:
        import matplotlib
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError:
        return
    figure = Figure(figsize=(11, 6), constrained_layout=True)
    panels = figure.subplots(2, 3).ravel()
    for axes, terms, title in zip(
        panels,
        (
            ('D_A_loss', 'D_B_loss'),
            ('G_A_cycle', 'G_B_cycle'),
            ('G_A_identity', 'G_B_identity'),
            ('G_A_cam', 'G_B_cam'),
        ),
        ('discriminators', 'cycle', 'identity', 'CAM'),
    ):
        for name, run in runs.items():
            values = _averaged(np.mean([run[term] for term in terms], axis=0))
            axes.plot(np.arange(WINDOW, WINDOW + len(values)), values, **_STYLE[name], label=name)
        axes.set_title(f'{title}, mean of A and B over {WINDOW} steps', fontsize='small')
    _curves(panels[4], runs['planned'], 'loss_scale_', 'planned: loss scales', log=True)
    _curves(panels[5], runs['planned'], 'exponent_', 'planned: largest exponent')
    for axes in panels:
        axes.grid(alpha=0.3)
        axes.legend(fontsize='x-small')
        axes.tick_params(labelsize='x-small')
    with matplotlib.rc_context({'svg.fonttype': 'none'}):
        FigureCanvasSVG(figure).print_svg(str(target), metadata={'Date': None})


_STYLE = {
    'float32': {'color': 'black', 'linewidth': 1.6},
    'noise_1': {'color': '0.55', 'linewidth': 0.9},
    'noise_2': {'color': '0.75', 'linewidth': 0.9},
    'planned': {'color': 'tab:green', 'linewidth': 1.2},
    'plain': {'color': 'tab:red', 'linewidth': 1.2},
}


def _curves(axes: Any, run: Dict[str, np.ndarray], prefix: str, title: str, log: bool = False) -> None:
    names: Sequence[str] = [name for name in run if name.startswith(prefix)]
    for name in names:
        axes.plot(run[name], label=name[len(prefix) :], linewidth=1)
    if log:
        axes.set_yscale('log', base=2)
    axes.set_title(title, fontsize='small')


if __name__ == '__main__':
    sys.exit(main())
