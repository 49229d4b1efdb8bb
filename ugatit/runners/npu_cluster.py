"""Several NPUs: the environment that HCCL reads, checked before it is used, because its own errors come late.

Either a table of ranks (`RANK_TABLE_FILE`, `RANK_SIZE`, `RANK_ID`), or a chief that collects workers (`CM_CHIEF_IP`,
`CM_CHIEF_PORT`, `CM_CHIEF_DEVICE`, `CM_WORKER_SIZE`, `CM_WORKER_IP`). Never both.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any, Mapping, Optional

from ugatit.errors import UserError

CHIEF = ('CM_CHIEF_IP', 'CM_CHIEF_PORT', 'CM_CHIEF_DEVICE', 'CM_WORKER_SIZE', 'CM_WORKER_IP')


@dataclasses.dataclass(frozen=True)
class Cluster:
    """How many processes train together, one NPU each, and which of them this is."""

    size: int = 1
    rank: Optional[int] = 0  # None: the chief gives it out, so it is known after opening only
    device_id: int = 0


def read_cluster(environment: Mapping[str, str]) -> Cluster:
    """UserError for every contradiction that the adapter would stop at, and for tables that cannot be right."""
    device_id = _number(environment, 'ASCEND_DEVICE_ID', 0, 0)
    if 'RANK_SIZE' in environment and 'CM_WORKER_SIZE' in environment:
        raise UserError('RANK_SIZE and CM_WORKER_SIZE exclude each other, but both are set; unset one of them.')
    if 'RANK_TABLE_FILE' in environment and 'CM_CHIEF_IP' in environment:
        raise UserError('RANK_TABLE_FILE and CM_CHIEF_IP exclude each other, but both are set; unset one of them.')
    if 'CM_CHIEF_IP' in environment or 'CM_WORKER_SIZE' in environment:
        return Cluster(_chief_size(environment), None, device_id)
    size = _number(environment, 'RANK_SIZE', 1, 1)
    if size == 1:
        return Cluster(1, 0, device_id)
    if 'RANK_TABLE_FILE' not in environment:
        raise UserError(f'RANK_SIZE is {size}, but neither RANK_TABLE_FILE nor CM_CHIEF_IP is set; set one of them, or'
                        ' unset RANK_SIZE to use one NPU.')  # fmt: skip
    rank = _number(environment, 'RANK_ID', None, 0)
    if rank >= size:
        raise UserError(f'RANK_ID must be less than RANK_SIZE={size}, but it is {rank}.')
    _check_table(pathlib.Path(environment['RANK_TABLE_FILE']), size, rank)
    return Cluster(size, rank, device_id)


def _chief_size(environment: Mapping[str, str]) -> int:
    missing = [name for name in CHIEF if name not in environment]
    if missing:
        raise UserError(f'a chief needs {", ".join(CHIEF)}, but {", ".join(missing)} is missing; set it.')
    _number(environment, 'CM_CHIEF_PORT', None, 1)
    _number(environment, 'CM_CHIEF_DEVICE', None, 0)
    return _number(environment, 'CM_WORKER_SIZE', None, 1)


def _number(environment: Mapping[str, str], name: str, default: Optional[int], least: int) -> int:
    text = environment.get(name)
    if text is None and default is not None:
        return default
    number = int(text) if text is not None and text.isdigit() else None
    if number is None or number < least:
        arrived = 'it is not set' if text is None else f'it is {text!r}'
        raise UserError(f'{name} must be a whole number from {least} on, but {arrived}.')
    return number


def _check_table(path: pathlib.Path, size: int, rank: int) -> None:
    try:
        table = json.loads(path.read_text('utf-8'))
    except (OSError, ValueError) as error:
        raise UserError(f'RANK_TABLE_FILE={path} must be a JSON file, but it cannot be read ({error}).') from None
    ranks = _ranks(table)
    if ranks is None:
        return  # a form that we do not know: HCCL will say
    if len(ranks) != size or str(rank) not in ranks:
        raise UserError(f'RANK_TABLE_FILE={path} lists the ranks {", ".join(ranks)}, but RANK_SIZE is {size} and'
                        f' RANK_ID is {rank}; they must agree.')  # fmt: skip


def _ranks(table: Any) -> Optional[list]:
    """The rank of every device of every server, as text; None where the table does not look like that."""
    try:
        return [str(device['rank_id']) for server in table['server_list'] for device in server['device']]
    except (KeyError, TypeError):
        return None
