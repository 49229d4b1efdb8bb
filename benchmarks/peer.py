"""A PyTorch U-GAT-IT that the user has, as runs to be timed beside ours; imported for `--peer=DIR` only."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from typing import Any, Callable, Dict, Iterable

from ugatit.runners.bfloat16 import cpu_has_bfloat16

_NAME = 'peer {mode}: {model} {size} px batch {batch}'
_PATTERN = re.compile(r'peer .*: (?P<model>\w+) (?P<size>\d+) px batch (?P<batch>\d+)')


def runs(options: argparse.Namespace, cases: Iterable[Any]) -> Dict[str, Callable[[], Any]]:
    """Name -> a function without arguments that translates a batch, for every model, size and batch among the cases."""
    torch, networks = importlib.import_module('torch'), _networks(options.peer)
    found: Dict[str, Callable[[], Any]] = {}
    for model, size, batch in dict.fromkeys((case.model, case.size, case.batch) for case in cases):
        network = networks.ResnetGenerator(
            input_nc=3, output_nc=3, ngf=options.ch, n_blocks=options.n_res, img_size=size, light=model == 'light'
        ).eval()
        images = torch.rand([batch, 3, size, size]) * 2.0 - 1.0
        for mode, run in _modes(torch, network, images).items():
            found[_NAME.format(mode=mode, model=model, size=size, batch=batch)] = run
    return found


def case_of(name: str) -> argparse.Namespace:
    """model, size and batch of a name that `runs` gave."""
    found = _PATTERN.match(name).groupdict()
    return argparse.Namespace(model=found['model'], size=int(found['size']), batch=int(found['batch']))


def _networks(folder: str) -> Any:
    if not os.path.isfile(os.path.join(folder, 'networks.py')):
        sys.exit(f'error: --peer={folder} should have a networks.py in it, but there is none; name a checkout.')
    sys.path.insert(0, os.path.abspath(folder))
    return importlib.import_module('networks')


def _modes(torch: Any, network: Any, images: Any) -> Dict[str, Callable[[], Any]]:
    def run(function: Any, bfloat16: bool = False) -> Callable[[], Any]:
        def call() -> Any:
            with torch.inference_mode(), torch.autocast('cpu', torch.bfloat16, enabled=bfloat16):
                return function(images)[0].float().numpy()

        return call

    modes = {'eager': run(network)}
    if cpu_has_bfloat16():  # elsewhere PyTorch emulates it, for minutes a picture
        modes['eager bfloat16'] = run(network, True)
    if hasattr(torch, 'compile'):
        modes['compiled'] = run(torch.compile(network))
    return modes
