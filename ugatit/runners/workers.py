"""Which process of a group this is: TF_CONFIG, TensorFlow's own way of saying so, read before TensorFlow does.

TF_CONFIG='{"cluster": {"worker": ["10.0.0.1:12345", "10.0.0.2:12345"]}, "task": {"type": "worker", "index": 0}}'
"""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any, List, Mapping

from ugatit.errors import UserError

_EXAMPLE = '{"cluster": {"worker": ["HOST:PORT", "HOST:PORT"]}, "task": {"type": "worker", "index": 0}}'
_ADDRESS = re.compile(r'(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})')


@dataclasses.dataclass(frozen=True)
class Worker:
    """One of `count` processes; number 0 is the chief, which writes."""

    index: int = 0
    addresses: tuple = ()

    @property
    def count(self) -> int:
        return max(1, len(self.addresses))


ALONE = Worker()


def read_worker(environment: Mapping[str, str]) -> Worker:
    """From TF_CONFIG; ALONE where it is not set or names no cluster. UserError says what is wrong with it."""
    text = environment.get('TF_CONFIG', '').strip()
    if not text:
        return ALONE
    config = _object(_parsed(text), 'TF_CONFIG')
    if not config.get('cluster'):
        return ALONE
    cluster = _object(config['cluster'], 'its "cluster"')
    for kind in cluster:
        if kind not in ('chief', 'worker'):
            raise _wrong(
                f'"cluster" may have "chief" and "worker", but it has {kind!r}: there are no such servers here'
            )
    chiefs, workers = (_addresses(cluster.get(kind, []), kind) for kind in ('chief', 'worker'))
    if len(chiefs) > 1:
        raise _wrong(f'there is one chief at most, but {len(chiefs)} arrived')
    addresses = [*chiefs, *workers]
    if not addresses:
        raise _wrong('the cluster has no worker')
    if len(set(addresses)) < len(addresses):
        raise _wrong('two workers have the same address')
    return Worker(_index(_object(config.get('task'), 'its "task"'), chiefs, workers), tuple(addresses))


def _index(task: Mapping[str, Any], chiefs: List[str], workers: List[str]) -> int:
    kind, index = task.get('type'), task.get('index')
    there = {'chief': chiefs, 'worker': workers}.get(kind) if isinstance(kind, str) else None
    if not there:
        raise _wrong(f'"task" must be of a type that the cluster has, but its type is {kind!r}')
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(there):
        raise _wrong(f'the index of a {kind} is a whole number from 0 to {len(there) - 1}, but {index!r} arrived')
    return index if kind == 'chief' else len(chiefs) + index


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise _wrong('it is not JSON') from None


def _object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(f'{what} must be an object in braces')
    return value


def _addresses(given: Any, kind: str) -> List[str]:
    if not isinstance(given, list):
        raise _wrong(f'the {kind}s must be a list of addresses')
    for address in given:
        match = _ADDRESS.fullmatch(address) if isinstance(address, str) else None
        if match is None or not 0 < int(match.group(2)) < 65536:
            raise _wrong(f'an address is HOST:PORT, but {address!r} arrived')
    return given


def _wrong(reason: str) -> UserError:
    return UserError(f'TF_CONFIG is set, but {reason}; expected {_EXAMPLE}, or unset it to train alone.')
