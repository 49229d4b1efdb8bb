"""`npu_device.distribute`: for one worker everything is left as it is; for several, the stub only notes the call."""

from __future__ import annotations

from typing import Any, Dict, Tuple

REDUCTIONS = ('mean', 'max', 'min', 'prod', 'sum')


def exports(adapter: Any) -> Dict[str, Any]:
    """The members of `npu_device.distribute`."""

    def all_reduce(
        values: Any, reduction: str = 'mean', fusion: int = 1, fusion_id: int = -1, group: str = 'hccl_world_group'
    ) -> Any:
        if reduction not in REDUCTIONS:
            raise ValueError(f'reduction must be one of {REDUCTIONS}, got {reduction!r}')
        _note('all_reduce', reduction)
        return values

    def broadcast(
        values: Any, root_rank: int = 0, fusion: int = 2, fusion_id: int = 0, group: str = 'hccl_world_group'
    ) -> None:
        _note('broadcast', str(root_rank))

    def shard_and_rebatch_dataset(dataset: Any, global_bs: int) -> Tuple[Any, int]:
        _note('shard_and_rebatch_dataset', str(global_bs))
        if global_bs % adapter.workers:
            raise ValueError(f'global batch {global_bs} is not divisible by {adapter.workers} workers')
        return dataset, global_bs // adapter.workers

    def _note(name: str, detail: str) -> None:
        if adapter.workers > 1:
            adapter.calls.append(f'{name} {detail}')

    return {
        'all_reduce': all_reduce,
        'broadcast': broadcast,
        'shard_and_rebatch_dataset': shard_and_rebatch_dataset,
    }
