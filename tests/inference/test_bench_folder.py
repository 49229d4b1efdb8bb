"""500 small pictures: memory stays flat; the benchmark's figures are there."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest

from tests import tolerances


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith('linux'), reason='reads the memory from /proc/self/status')
def test_memory_is_flat_over_500_pictures(tmp_path: pathlib.Path, repository: pathlib.Path) -> None:
    words = [f'--workdir={tmp_path}', '--image_size=16', '--side=100', '--batch_size=4', '--everything']
    program = [sys.executable, '-m', 'benchmarks.bench_folder', *words]
    done = subprocess.run(program, cwd=repository, stdout=subprocess.PIPE)
    found = json.loads(done.stdout)
    assert found['pictures'] == 500 and found['failed'] == 0 and found['pictures_per_second'] > 0
    memory = found['memory_bytes']
    assert memory['500'] <= memory['100'] * tolerances.FOLDER_MEMORY, memory
    assert done.returncode in (0, 3)
    assert list(tmp_path.iterdir()) == []
