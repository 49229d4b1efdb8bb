"""A recorded run in a process of its own in which TensorFlow's plain kernels do the sums, as in the official run.

oneDNN adds up in another order. Where a value sits on the kink of a ReLU or of L1, that decides on which side it falls.
TensorFlow asks TF_ENABLE_ONEDNN_OPTS when it is imported, hence the process.
"""

from __future__ import annotations

import os
import pathlib
import pickle
import subprocess
import sys
import tempfile

from tests.training.golden_runs import Case, Run, run_converged

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT = 900  # seconds; it takes some twenty on a quiet machine


def run_in_plain_kernels(golden: pathlib.Path, name: str) -> Run:
    """The undisturbed converged run."""
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / 'run.pickle'
        program = [sys.executable, '-m', 'tests.training.plain_kernels', str(golden), name, str(result)]
        environment = {**os.environ, 'TF_ENABLE_ONEDNN_OPTS': '0'}
        subprocess.run(program, cwd=REPOSITORY, env=environment, check=True, timeout=TIMEOUT)
        return pickle.loads(result.read_bytes())


if __name__ == '__main__':
    _golden, _name, _result = sys.argv[1:]
    # Not the class of __main__, which nobody could read back.
    pathlib.Path(_result).write_bytes(pickle.dumps(run_converged(Case(pathlib.Path(_golden), _name))))
