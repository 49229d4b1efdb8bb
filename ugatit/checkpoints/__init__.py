"""Checkpoints in the official format: TensorFlow V2 files under the official variable names.

    reader = CheckpointReader(path)                                                     # location.py, reader.py
    architecture = architecture_of(reader).architecture                                 # architecture.py
    check_variables(blueprint.variable_specs(architecture, 'generator_B'), reader)      # load.py
    generator = Generator(architecture, 'generator_B', policy, variables=checkpoint_factory(reader))
    save_checkpoint(folder, 'UGATIT', step, tensors, metadata, keep=3)                  # writer.py

`naming.py` knows what the official code calls its variables, slots, folders and files; `slimming.py` copies generators
alone; `demo.py` finds the weights that come with the project; `python -m ugatit.checkpoints PATH` prints what a
checkpoint holds.
"""

from __future__ import annotations

import importlib
from typing import Any, Dict

_MODULES: Dict[str, str] = {
    'Location': 'location',
    'locate': 'location',
    'BETA_POWERS': 'naming',
    'model_name': 'naming',
    'network_names': 'naming',
    'official_model_dir': 'naming',
    'official_names': 'naming',
    'optimiser_names': 'naming',
    'slot_names': 'naming',
    'CheckpointReader': 'reader',
    'StoredTensor': 'reader',
    'ResolvedArchitecture': 'architecture',
    'architecture_of': 'architecture',
    'architecture_state': 'architecture',
    'LoadReport': 'load',
    'check_variables': 'load',
    'checkpoint_factory': 'load',
    'save_checkpoint': 'writer',
    'save_pieces': 'writer',
    'slim': 'slimming',
    'fold_ranges': 'folding',
    'fold_exponents': 'folding',
    'folded_exponents': 'folding',
    'demo_checkpoint': 'demo',
    'demo_pictures': 'demo',
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    """Imports on first use: `python -m ugatit.checkpoints` must set TensorFlow's log level before it is imported."""
    if name not in _MODULES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    return getattr(importlib.import_module(f'{__name__}.{_MODULES[name]}'), name)
