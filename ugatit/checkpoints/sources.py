"""Where a generator's weights come from: a checkpoint, one read as the official code reads it, or a seed."""

from __future__ import annotations

import dataclasses
import logging
from typing import Any, Dict, Mapping, Optional, Union

from ugatit.checkpoints.architecture import architecture_of
from ugatit.checkpoints.folding import folded_exponents
from ugatit.checkpoints.load import check_variables, checkpoint_factory
from ugatit.checkpoints.location import PathLike
from ugatit.checkpoints.reader import CheckpointReader
from ugatit.nn.architecture import Architecture
from ugatit.nn.variables import VariableFactory, seeded

_log = logging.getLogger(__name__)

UNTRAINED = Architecture(image_size=128, ch=16, light=True)  # of a network without a checkpoint


class InitialWeights:
    """Initial weights in place of a checkpoint."""

    def __init__(self, seed: int, image_size: int) -> None:
        self.architecture = dataclasses.replace(UNTRAINED, image_size=image_size)
        self._factory = seeded(seed)

    def factory(self, scope: str, wanted: Mapping[str, Any], official: Mapping[str, Any]) -> VariableFactory:
        del scope, wanted, official
        return self._factory

    def folded(self, scope: str) -> Dict[str, int]:
        del scope
        return {}

    def holds(self, name: str) -> bool:
        del name
        return False


class StoredWeights:
    """A checkpoint, checked before anything big is read."""

    def __init__(self, path: PathLike, scope: str, image_size: Optional[int], seed: int) -> None:
        self._reader, self._seed = CheckpointReader(path), seed
        self.architecture = architecture_of(self._reader, [scope], overrides={'image_size': image_size}).architecture

    def factory(self, scope: str, wanted: Mapping[str, Any], official: Mapping[str, Any]) -> VariableFactory:
        """Checks names and shapes: a variant's additional variables may be missing and start anew, no others may."""
        stored = self._reader.variables()
        additional = [name for name in wanted if name not in official and name not in stored]
        expected = {**official, **{name: spec for name, spec in wanted.items() if name in stored or name in official}}
        unused = [name for name in official if name not in wanted and name not in stored]
        check_variables({name: spec for name, spec in expected.items() if name not in unused}, self._reader)
        if additional:
            _log.warning('%s lacks %d variables of this variant, which start at their initial values: %s',
                         scope, len(additional), ', '.join(additional[:6]))  # fmt: skip
        self._reader.read_ahead([name for name in wanted if name in stored])
        return checkpoint_factory(self._reader, fallback=seeded(self._seed))

    def folded(self, scope: str) -> Dict[str, int]:
        """Range group -> exponent that is in the stored weights already."""
        return folded_exponents(self._reader, scope)

    def holds(self, name: str) -> bool:
        """Whether the variable is stored."""
        return name in self._reader.variables()


class WeightsAsOfficial(StoredWeights):
    """The same checkpoint to a reader that does not know what was folded into it."""

    def folded(self, scope: str) -> Dict[str, int]:
        del scope
        return {}


Source = Union[InitialWeights, StoredWeights]
