"""A clip of 10 seconds from end to end: memory stays flat, every frame and the sound arrive."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest

from tests import tolerances


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith('linux'), reason='reads the memory from /proc/self/status')
def test_memory_is_flat_over_10_seconds(tmp_path: pathlib.Path, repository: pathlib.Path) -> None:
    pytest.importorskip('av')
    program = [
        sys.executable,
        '-m',
        'benchmarks.bench_video',
        f'--workdir={tmp_path}',
        '--image_size=16',
        '--batch_size=5',
    ]
    done = subprocess.run(program, cwd=repository, stdout=subprocess.PIPE)
    found = json.loads(done.stdout)
    assert found['frames'] == found['frames_written'] == 250 and found['sound']
    assert found['memory_growth'] <= tolerances.FOLDER_MEMORY, found['memory_bytes']
    assert done.returncode in (0, 3)
    assert list(tmp_path.iterdir()) == []
