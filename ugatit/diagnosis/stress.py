"""Range planning backwards: a healthy checkpoint made to overflow float16, with the same picture in float32."""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Dict, List, Mapping, Optional, Tuple

import numpy as np

from ugatit.checkpoints.folding import fold_exponents
from ugatit.checkpoints.location import Location, PathLike
from ugatit.checkpoints.writer import delete_checkpoint
from ugatit.diagnosis.dropin import DropIn, quietly, try_drop_in
from ugatit.diagnosis.findings import Finding, describe, find
from ugatit.diagnosis.report import FLOAT16_PRECISIONS
from ugatit.errors import UserError
from ugatit.nn.call import Membership
from ugatit.planning import profile_ranges
from ugatit.ranges import RangeProfile
from ugatit.translate import Translator, load

DEFAULT_GROUPS = r'decoder|up_conv_\d'
REPORTED = 271823.0  # |min| of generator_B/up_conv_0/conv2d/Conv2D of the official checkpoint on an Ascend 910
LARGEST_BITS = 40
ROOM = 2.0**100  # for any value, squares too: sums over a picture then stay below float32's end, 2**128


@dataclasses.dataclass(frozen=True)
class Stressed:
    """One generator of the new checkpoint."""

    direction: str
    bits: Dict[str, int]  # group -> by how many powers of two its values are larger now
    proof: DropIn
    findings: Tuple[Finding, ...]  # what overflows now

    def to_json(self) -> Dict[str, object]:
        return {
            'bits': self.bits,
            **self.proof.to_json(),
            'policies': [finding.to_json() for finding in self.findings],
        }


def stress(
    checkpoint: PathLike,
    output: PathLike,
    pictures: Mapping[str, np.ndarray],
    groups: str = DEFAULT_GROUPS,
    reach: float = REPORTED,
    bits: Optional[int] = None,
    image_size: Optional[int] = None,
) -> Tuple[Location, List[Stressed]]:
    """Writes a generators-only checkpoint whose chosen groups hold values 2**bits times as large.

    Args:
        checkpoint: any whose generators work.
        output: the new folder.
        pictures: direction -> [N, H, W, 3], to measure and to prove on; other directions' generators are copied.
        groups: a regular expression over whole range group names, or names separated by commas.
        reach: each chosen group's largest |value| is to be at least this; where it is already, nothing changes.
        bits: the same power of two for every chosen group instead.
        image_size: of a light model, where the checkpoint does not tell.

    The checkpoint is deleted again where the float32 picture comes out different; see `spoiled`.

    Raises:
        UserError: no group of that name, or float32 itself would not hold the values.
    """
    chosen: Dict[str, Dict[str, int]] = {}
    exponents: Dict[str, Dict[str, int]] = {}
    with quietly():
        for direction, images in pictures.items():
            translate = load(checkpoint, direction, image_size=image_size)
            profile = profile_ranges(translate, images)
            chosen[direction] = _bits(translate, profile, groups, reach, bits)
            _check_room(profile, translate.generator.range_members(), chosen[direction])
            scope = translate.generator.scope
            exponents[scope] = {group: -number for group, number in chosen[direction].items() if number}
        location = fold_exponents(checkpoint, exponents, output, image_size)
    stressed = []
    try:
        for direction, images in pictures.items():
            proof = try_drop_in(checkpoint, location.prefix, direction, images, image_size)
            findings = tuple(find(proof.profile, FLOAT16_PRECISIONS))
            stressed.append(Stressed(direction, chosen[direction], proof, findings))
    except BaseException:
        delete_checkpoint(location)
        raise
    if spoiled(stressed):
        delete_checkpoint(location)
    return location, stressed


def spoiled(stressed: List[Stressed]) -> List[str]:
    """The directions whose float32 picture is not the same bit for bit; the checkpoint is deleted then."""
    return [one.direction for one in stressed if not one.proof.ours.picture_bits]


def _check_room(profile: RangeProfile, members: Mapping[str, Membership], bits: Mapping[str, int]) -> None:
    """UserError where float32 itself would not hold what was asked for."""
    for name, t in profile.items():
        member = members.get(name)
        more = bits.get(member.group, 0) * member.power if member and member.group else 0
        if more and t.amax > math.ldexp(ROOM, -more):
            raise UserError(f'{name} reaches {t.amax:.3g} already, and 2**{more} times that is too large for float32;'
                            ' choose a smaller --reach or --bits, or start from the original checkpoint.')  # fmt: skip


def _bits(
    translate: Translator, profile: RangeProfile, groups: str, reach: float, bits: Optional[int]
) -> Dict[str, int]:  # fmt: skip
    network = translate.generator
    chosen = matching_groups(groups, network.registry.members)
    if bits is not None:
        return {group: bits for group in chosen}
    amax = group_amax(profile, network.range_members())
    return {group: bits_to_reach(amax.get(group, 0.0), reach) for group in chosen}


def matching_groups(wanted: str, legal: Mapping[str, object]) -> List[str]:
    """The groups that a regular expression matches wholly, or that a list of names names; UserError for none."""
    names = [name.strip() for name in wanted.split(',')]
    if all(name in legal for name in names):
        return names
    try:
        found = [group for group in legal if re.fullmatch(wanted, group)]
    except re.error as error:
        raise UserError(f'--groups must be names or a regular expression, but {wanted!r} does not compile ({error}).'
                        ) from None  # fmt: skip
    if not found:
        raise UserError(f'No range group matches {wanted!r}; there are {", ".join(legal)}.')
    return found


def group_amax(profile: RangeProfile, members: Mapping[str, Membership]) -> Dict[str, float]:
    """Group -> largest |value| of its tensors, squares left out."""
    reached: Dict[str, float] = {}
    for name, t in profile.items():
        member = members.get(name)
        if member and member.group and member.power == 1:
            reached[member.group] = max(reached.get(member.group, 0.0), t.amax)
    return reached


def bits_to_reach(amax: float, reach: float) -> int:
    """The smallest n >= 0 with amax * 2**n >= reach."""
    if not 0.0 < amax < reach:
        return 0
    return min(LARGEST_BITS, math.ceil(math.log2(reach / amax)))


def stress_text(stressed: Stressed) -> str:
    """What was done to one generator, what overflows now, and what code makes of it that knows no exponents."""
    proof, over = stressed.proof, stressed.proof.over()
    bits = ', '.join(f'{group} 2**{n}' for group, n in stressed.bits.items() if n)
    lines = [
        f'{stressed.direction}: ' + (f'larger now: {bits}' if bits else 'nothing changed, the values reach that far'),
        f'  our runtime: {proof.ours.picture_text()}',
        f'  code that keeps epsilon 1e-5: {proof.official.picture_text()}',
    ]
    if over:
        lines.append(f'  {len(over)} tensors are over 65504, and {proof.squares_over()} squared differences and'
                     f' variances; the first: {describe(over[0])}')  # fmt: skip
    else:
        lines.append('  nothing is over 65504 yet; choose a larger --reach or --bits')
    return '\n'.join(lines)
