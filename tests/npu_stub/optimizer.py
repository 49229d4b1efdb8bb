"""`NpuLossScaleOptimizer`: what it accepts. (The project scales losses itself; this is for people who mix both.)"""

from __future__ import annotations

from typing import Any, Dict, Optional

import tensorflow as tf


def exports(adapter: Any) -> Dict[str, Any]:
    """The members of `npu_device.train.optimizer`."""

    class NpuLossScaleOptimizer:
        def __init__(
            self,
            inner_optimizer: Any,
            dynamic: bool = True,
            initial_scale: Optional[float] = None,
            dynamic_growth_steps: Optional[int] = None,
        ) -> None:
            _check(inner_optimizer)
            if not dynamic and initial_scale is None:
                raise ValueError('dynamic=False needs an initial_scale')
            self.inner_optimizer = inner_optimizer
            self.initial_scale = 32768.0 if initial_scale is None else initial_scale
            self.dynamic_growth_steps = 2000 if dynamic_growth_steps is None else dynamic_growth_steps
            adapter.calls.append('NpuLossScaleOptimizer')

    return {'NpuLossScaleOptimizer': NpuLossScaleOptimizer}


def _check(inner: Any) -> None:
    if isinstance(inner, tf.keras.mixed_precision.LossScaleOptimizer) or hasattr(inner, 'inner_optimizer'):
        raise TypeError('a LossScaleOptimizer must not be nested')
    if not isinstance(inner, tf.keras.optimizers.Optimizer):
        raise TypeError(f'"inner_optimizer" must be a tf.keras.optimizers.Optimizer, got {type(inner).__name__}')
