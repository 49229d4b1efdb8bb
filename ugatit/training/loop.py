"""The loop: step after step, with records, samples and checkpoints between them, and a way to stop at any time.

A checkpoint of step N holds everything that step N + 1 depends on; pictures, learning rate and random numbers are
functions of the step. So a run that was stopped, or killed, repeats at most the steps since its last checkpoint, and
ends with the same bits as one that never stopped.
"""

from __future__ import annotations

import logging
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Protocol, Sequence, Tuple

import numpy as np
import tensorflow as tf

from ugatit.checkpoints import architecture_state, model_name, save_checkpoint
from ugatit.data.prefetch import prefetched
from ugatit.errors import UserError
from ugatit.training.records import Records
from ugatit.training.samples import make_strips, rho_values, translators
from ugatit.training.schedule import counter_after, learning_rate
from ugatit.training.settings import Settings
from ugatit.training.start import Start
from ugatit.training.state import official_state
from ugatit.training.step import TrainingStep
from ugatit.training.stop import StopRequest
from ugatit.training.update import Training
from ugatit.training.watch import Watch, require_finite

_log = logging.getLogger(__name__)

Images = Tuple[np.ndarray, np.ndarray]
Batches = Callable[[int], Tuple[Images, Optional[Images]]]


class Pace(Protocol):
    """Tells the user how far the run is; called after every step."""

    def __call__(self, done: int, losses: Mapping[str, float]) -> None: ...


class Pictures(NamedTuple):
    """What the loop is fed with."""

    batches: Batches  # step -> the batch of both updates, and the generators' own or None
    tests_a: Sequence[np.ndarray]  # uint8 [S, S, 3], always the same ones
    tests_b: Sequence[np.ndarray]


class Loop:
    """One session of a run; `run` returns when all steps are done or a signal came."""

    def __init__(
        self,
        settings: Settings,
        start: Start,
        training: Training,
        pictures: Pictures,
        records: Records,
        metadata: Mapping[str, Any],
        pace: Pace,
    ) -> None:
        self._settings, self._start, self._training = settings, start, training
        self._pictures, self._records, self._metadata, self._pace = pictures, records, metadata, pace
        self._step = TrainingStep(training, settings.training.schedule)
        self._translate = translators(training.networks, training.device)
        self._watch = Watch(settings.training)
        self.done = self.saved = start.steps_done  # steps
        self._whole = True  # False while variables change: what they hold then is no step's state

    def run(self, request: StopRequest) -> None:
        """Trains to the end of the schedule.

        Raises:
          UserError: a loss is not finite, a picture cannot be read any more, or a checkpoint cannot be written. What
            can be saved then is saved first.
        """
        total = self._settings.training.schedule.steps
        steps = prefetched(self._pictures.batches, self.done, total)
        try:
            for step, batch in steps:
                self._one_step(step, *batch)
                # Looked at once: a signal between saving and leaving must not be lost.
                stopping = self._training.device.agree(bool(request))
                self._after_step(total, stopping)
                if stopping:
                    break
        except (UserError, OSError, tf.errors.OpError) as error:
            self._rescue()
            told = self._training.device.explain(error)
            if told is None:
                raise
            raise UserError(told) from error
        finally:
            steps.close()

    def _one_step(self, step: int, images: Images, generator_images: Optional[Images]) -> None:
        if step == self._start.steps_done:
            _log.info('compiling the training step: up to some minutes, once')
        self._whole = False
        losses = _numbers(self._step(step, images, generator_images))
        if not self._training.precision.skipped_now:
            require_finite(losses, step + 1)
        self.done, self._whole = step + 1, True
        self._watch.losses(self.done, losses)
        self._pace(self.done, losses)
        if step % self._settings.training.log_every == 0:
            rate, details = learning_rate(self._settings.training.schedule, step), self._training.precision.details()
            self._records.losses(self.done, rate, losses, details)

    def _after_step(self, total: int, stopping: bool) -> None:
        settings, last = self._settings.training, self.done == total
        if last or self.done % settings.sample_every == 0:
            self._sample()
        if last or stopping or self.done % settings.save_every == 0:
            self._records.flush()
            self._save()
            self._records.plots()

    def _sample(self) -> None:
        strips = make_strips(self._translate, self._pictures.tests_a, self._pictures.tests_b)
        for strip in strips:
            self._watch.sample(self.done, strip.network, strip.inputs, strip.fakes)
        self._records.strips(self.done, strips, rho_values(self._training.networks))

    def _save(self) -> None:
        """The run's state under the official names, and ours; what was saved before stays where this fails."""
        before, self._whole = self._whole, False  # a failed save is not tried again
        if not self._training.device.chief:
            self.saved, self._whole = self.done, before
            return
        save_checkpoint(
            self._start.folder,
            model_name(self._settings.model.light),
            counter_after(self.done),
            {**official_state(self._training), **self._own_state()},
            {**self._metadata, 'steps_done': self.done},
            self._settings.training.keep,
        )
        self.saved, self._whole = self.done, before

    def _own_state(self) -> Dict[str, Any]:
        numbers = {'steps_done': self.done, 'seed': self._settings.training.seed}
        own = {f'ugatit/training/{name}': np.array(value, np.int64) for name, value in numbers.items()}
        state = self._training.precision.state()
        return {**architecture_state(self._training.networks.architecture), **state, **own}

    def _rescue(self) -> None:
        """Something else failed: keep the steps that were done, if the variables are those of a step."""
        if not self._training.device.chief:
            return
        try:
            if self._whole and self.done > self.saved:
                self._save()
        except UserError as error:
            _log.warning('%s', error)
        if self.saved:
            _log.info('the run is saved at step %d; the same command continues it', self.saved)
        else:
            _log.info('nothing was saved yet')


def _numbers(losses: Mapping[str, tf.Tensor]) -> Dict[str, float]:
    """One transfer from the device for all terms."""
    names: List[str] = list(losses)
    return dict(zip(names, tf.stack([losses[name] for name in names]).numpy().tolist()))
