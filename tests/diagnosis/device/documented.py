"""The table of cards that docs/ascend.md shows: one column per emulated device, `·` where it is as float32."""

from __future__ import annotations

from typing import Dict, List

from ugatit.diagnosis.device.experiments import Reading


def table(known: Dict[str, List[Reading]]) -> str:
    """Markdown; a CPU's own card is the column float32."""
    rows = [['', *known], ['---'] * (1 + len(known))]
    for i, reading in enumerate(known['float32']):
        first, *others = (readings[i].answer for readings in known.values())
        rows.append([reading.question, first, *('·' if answer == first else answer for answer in others)])
    return '\n'.join(f'| {" | ".join(row)} |' for row in rows)
