"""All variables of a run by official name: what a checkpoint holds, and how to get it back."""

from __future__ import annotations

from typing import Dict, Mapping

import numpy as np
import tensorflow as tf

from ugatit.checkpoints import CheckpointReader
from ugatit.checkpoints.naming import PROJECT_STATE
from ugatit.errors import UserError
from ugatit.training.update import Training


def official_state(training: Training) -> Dict[str, tf.Variable]:
    """Official name -> variable, in the official Saver's order: networks, then powers and slots of each optimiser.

    776 by default. Hand it to `save_checkpoint`, or assign to its values; variants add their own names.
    """
    return {
        **training.networks.named_variables,
        **training.optimisers.generators.named_variables,
        **training.optimisers.discriminators.named_variables,
    }


def own_state(reader: CheckpointReader) -> Dict[str, np.ndarray]:
    """What a checkpoint holds of ours beside the official variables: scales, ranges, counters."""
    return {name: reader.read_one(name).numpy() for name in reader.variables() if name.startswith(PROJECT_STATE)}


def assign_state(training: Training, tensors: Mapping[str, tf.Tensor]) -> None:
    """Sets every variable; raises UserError, before anything is changed, where `tensors` lacks one."""
    state = official_state(training)
    missing = [name for name in state if name not in tensors]
    if missing:
        raise UserError(
            f'The training state has {len(state)} variables, but {len(missing)} of them did not arrive, first'
            f' {missing[0]}; start a new run from the weights alone instead.'
        )
    for name, variable in state.items():
        variable.assign(tensors[name])
