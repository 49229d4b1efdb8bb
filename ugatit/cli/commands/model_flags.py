"""Flags that several commands share, and what they mean."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional, Tuple

from ugatit.cli.flags import CommandFlags
from ugatit.errors import UserError

DIRECTIONS = ('a2b', 'b2a')


def checkpoint_flags(flags: CommandFlags) -> None:
    """--checkpoint and --image_size."""
    flags.path('checkpoint', None, 'folder, parent of one, prefix UGATIT.model-N or its .index file')
    flags.whole_number('image_size', None, 'side of the pictures, of a light model only', at_least=8, at_most=8192)


def direction_flag(flags: CommandFlags, default: str) -> None:
    """--direction with 'both'."""
    flags.choice('direction', default, (*DIRECTIONS, 'both'), 'a2b uses generator_B, b2a uses generator_A')


def planning_flags(flags: CommandFlags) -> None:
    """--headroom_bits and --fit_squares."""
    flags.number(
        'headroom_bits', 1.0, 'powers of two left free below 65504 for other pictures', at_least=0.0, at_most=8.0
    )
    flags.boolean('fit_squares', False, 'also fit squared differences, for modes that square in float16')


def directions(chosen: str) -> Tuple[str, ...]:
    """The directions that --direction means."""
    return DIRECTIONS if chosen == 'both' else (chosen,)


def required(options: Any, *names: str) -> None:
    """UserError naming the first of these flags that is not given."""
    for name in names:
        if not getattr(options, name):
            raise UserError(f'--{name} is needed, but it is missing; write --{name}=VALUE.')


def write_json(path: Optional[str], value: Mapping[str, Any]) -> None:
    """Writes a result where --json says, and says so; nothing for None."""
    if path is not None:
        from ugatit.data.reports import write_json_report

        write_json_report(path, value)
        print(f'report: {path}')


def write_text(path: Optional[str], noun: str, text: Callable[[], str]) -> None:
    """Writes a page, a plot or a sheet and says 'page: FILE'; nothing for None, and nothing is drawn then."""
    if path is not None:
        from ugatit.data.convert import write_file

        write_file(path, text().encode())
        print(f'{noun}: {path}')
