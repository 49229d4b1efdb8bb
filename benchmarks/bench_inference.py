"""How fast a loaded generator translates pictures, as a cost that machines have in common and as a share of the limit.

    python -m benchmarks.bench_inference                                         # every case; half an hour on two cores
    python -m benchmarks.bench_inference --models=light --batches=1 --precisions=float32,mixed_bfloat16   # 2 minutes
    python -m benchmarks.bench_inference --models=light --batches=1 --peer=DIR   # against a PyTorch U-GAT-IT you have
    python -m benchmarks.bench_inference --small                                 # tiny networks: does it work at all

Checkpoints with seeded weights are written to a temporary folder and loaded as users load them (`ugatit.load`), and
what is timed is what users call: float32 NumPy pictures in, NumPy pictures out. All cases take turns in one process,
with a float32 matrix product of TensorFlow between them: time * its rate is the cost in GFLOP. The limit counts the
multiplications and additions of the network's convolutions as written down (105 GFLOP a picture at 256 pixels), and for
full models also the time to read the weights of the MLP once from memory.

--peer names a checkout whose `networks.py` has `ResnetGenerator(input_nc, output_nc, ngf, n_blocks, img_size, light)`,
as the official PyTorch code has; it needs PyTorch and runs eagerly, compiled, and with bfloat16 autocast where the CPU
has that. Nothing of it comes with this project.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import sys
import tempfile
from typing import Any, Callable, Dict, Iterator, List, NamedTuple

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')

from benchmarks import machine, peer, roofline, timing  # noqa: E402

MODELS = ('light', 'full')
PRECISIONS = ('float32', 'float32:plain', 'mixed_bfloat16', 'mixed_float16')
SIZE = 256  # pixels: of every model; light ones are measured at --sizes as well, with batch 1


class Case(NamedTuple):
    """One row of the table."""

    model: str
    precision: str
    size: int
    batch: int

    def __str__(self) -> str:
        return f'{self.model} {self.size} px batch {self.batch} {self.precision}'


def main() -> int:
    """Loads all models, times them in turn, prints what they cost."""
    options = _parse()
    with tempfile.TemporaryDirectory(prefix='bench-inference-', dir=options.workdir) as folder:
        results = _measure(options, folder)
    machine.show(results, options, _table(results['cases']))
    return 0


def _measure(options: argparse.Namespace, folder: str) -> Dict[str, Any]:
    refused: Dict[str, str] = {}
    cases = {str(case): case for case in _cases(options)}
    models = _load(options, folder, cases.values(), refused)
    cases = {name: case for name, case in cases.items() if (case.model, case.precision) in models}
    runs = {name: _run(models[case.model, case.precision], case) for name, case in cases.items()}
    runs.update(peer.runs(options, cases.values()) if options.peer else {})
    bandwidth = roofline.read_bandwidth(options.megabytes)
    found = timing.costs(runs, options.rounds, size=options.matrix)
    rows = {name: _row(options, cases.get(name), name, found, bandwidth) for name in runs}
    return {
        **machine.facts(),
        'rounds': options.rounds,
        'matmul_gflop_per_second': round(statistics.median(found.rate), 1),
        'matmul_quartiles': timing.quartiles(found.rate, 1),
        'read_gb_per_second': round(bandwidth, 2),
        'refused': refused,
        'cases': rows,
    }


def _cases(options: argparse.Namespace) -> Iterator[Case]:
    """Every model, precision and batch at its own size; other sizes of the light model with batch 1."""
    for model, batch, precision in itertools.product(options.models, options.batches, options.precisions):
        yield Case(model, precision, options.image_size, batch)
    if 'light' in options.models:
        for size, precision in itertools.product(options.sizes, options.precisions):
            yield Case('light', precision, size, 1)


def _load(options: argparse.Namespace, folder: str, cases: Any, refused: Dict[str, str]) -> Dict[Any, Any]:
    """(model, precision) -> what `ugatit.load` gives; a precision that this machine refuses is told, not measured."""
    import ugatit
    from ugatit.errors import UserError

    found: Dict[Any, Any] = {}
    for model, precision in dict.fromkeys((case.model, case.precision) for case in cases):
        path = os.path.join(folder, model)
        if not os.path.isdir(path):
            write_generator(path, options, model == 'light')
        try:
            name, _, algebra = precision.partition(':')
            chosen = {'algebra': algebra} if algebra else {}
            found[model, precision] = ugatit.load(path, precision=name, device=options.device, **chosen)
        except UserError as error:
            refused[precision] = str(error)
    return found


def write_generator(folder: str, options: argparse.Namespace, light: bool) -> None:
    """A checkpoint of one generator with seeded weights, as the official initialiser draws them."""
    from ugatit.checkpoints import model_name, save_checkpoint
    from ugatit.nn.architecture import Architecture
    from ugatit.nn.blueprint import variable_specs
    from ugatit.nn.variables import KERNEL, ONES, ZEROS

    architecture = Architecture(image_size=options.image_size, ch=options.ch, n_res=options.n_res, light=light)
    specs = variable_specs(architecture, 'generator_B')
    initial = {'kernel': KERNEL, 'gamma': ONES, 'rho': ONES}  # the others are zeros
    values = {n: initial.get(n.rpartition('/')[2], ZEROS)(n, spec.shape, 0) for n, spec in specs.items()}
    save_checkpoint(folder, model_name(light), 0, values, {'architecture': architecture})


def _run(translate: Any, case: Case) -> Callable[[], Any]:
    images = pictures(case.batch, case.size)
    return lambda: translate(images)


def pictures(batch: int, size: int) -> Any:
    """float32 [batch, size, size, 3] in [-1, 1], NumPy; the same for everyone."""
    import numpy as np

    return np.random.RandomState(0).uniform(-1.0, 1.0, [batch, size, size, 3]).astype(np.float32)


def limit_gflop(architecture: Any, size: int, batch: int, rate: float, bandwidth: float) -> float:
    """What the network as written down costs at least: its operations, and where the MLP is full its bytes' time."""
    read = 4 * architecture.features**2 * (size // 4) ** 2 / 1e9 if not architecture.light else 0.0  # GB
    return batch * convolution_gflop(architecture, size) + read / bandwidth * rate


def convolution_gflop(architecture: Any, size: int) -> float:
    """Multiplications and additions of all convolutions for one picture."""
    ch, features, pixels = architecture.ch, architecture.features, size * size
    inputs = 2 * features if architecture.cam_generator else features
    products = (  # pixels of the result * kernel * channels in and out
        2 * pixels * 49 * 3 * ch
        + pixels / 4 * 9 * ch * 2 * ch
        + pixels / 16 * 9 * 2 * ch * features
        + pixels / 16 * inputs * features
        + 4 * architecture.n_res * pixels / 16 * 9 * features**2
        + pixels / 4 * 9 * features * 2 * ch
        + pixels * 9 * 2 * ch * ch
    )
    return 2 * products / 1e9


def _row(options: argparse.Namespace, case: Any, name: str, found: timing.Costs, bandwidth: float) -> Dict[str, Any]:
    from ugatit.nn.architecture import Architecture

    seconds, cost = statistics.median(found.seconds[name]), statistics.median(found.gflop[name])
    case = case or peer.case_of(name)
    architecture = Architecture(case.size, options.ch, options.n_res, light=case.model == 'light')
    limit = limit_gflop(architecture, case.size, case.batch, statistics.median(found.rate), bandwidth)
    return {
        'seconds': round(seconds, 4),
        'pictures_per_second': round(case.batch / seconds, 3),
        'gflop_per_picture': _rounded(cost / case.batch),
        'gflop_quartiles': [_rounded(value / case.batch) for value in timing.quartiles(found.gflop[name], 9)],
        'limit_gflop_per_picture': _rounded(limit / case.batch),
        'fraction_of_limit': round(limit / cost, 3),
    }


def _rounded(value: float) -> float:
    """Four digits that mean something: tiny networks cost tiny amounts."""
    return float(f'{value:.4g}')


def _table(cases: Dict[str, Dict[str, Any]]) -> str:
    columns = ('case', 'seconds', 'GFLOP a picture', 'limit', 'fraction of it')
    keys = ('seconds', 'gflop_per_picture', 'limit_gflop_per_picture', 'fraction_of_limit')
    return machine.table(columns, [[name, *(row[key] for key in keys)] for name, row in cases.items()])


def _names(text: str) -> List[str]:
    return [name for name in text.split(',') if name]


def _numbers(text: str) -> List[int]:
    return [int(number) for number in _names(text)]


def _parse() -> argparse.Namespace:
    parser = machine.parser(__doc__)
    parser.add_argument('--models', type=_names, default=list(MODELS), help='light, full')
    parser.add_argument('--batches', type=_numbers, default=[1, 4, 16])
    parser.add_argument(
        '--precisions', type=_names, default=list(PRECISIONS), help='float32:plain is the same without its algebra'
    )
    parser.add_argument('--sizes', type=_numbers, default=[512], help='more sizes of the light model, with batch 1')
    parser.add_argument('--image_size', type=int, default=SIZE)
    parser.add_argument('--ch', type=int, default=64)
    parser.add_argument('--n_res', type=int, default=4)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--device', default='auto')
    parser.add_argument('--workdir', default=None, help='where the checkpoints go for a while; up to 1.2 GB')
    parser.add_argument('--peer', metavar='DIR', help='a checkout of a PyTorch U-GAT-IT')
    parser.add_argument('--megabytes', type=int, default=256, help='read to measure the bandwidth')
    parser.add_argument('--matrix', type=int, default=roofline.SIZE, help='rows of the matrices in between')
    parser.add_argument('--small', action='store_true', help='tiny networks and matrices, one round')
    options = parser.parse_args()
    if options.small:
        tiny = {'image_size': 16, 'ch': 2, 'n_res': 1, 'rounds': 1, 'sizes': [32], 'batches': [1, 2]}
        vars(options).update(tiny, megabytes=1, matrix=64)
    return options


if __name__ == '__main__':
    sys.exit(main())
