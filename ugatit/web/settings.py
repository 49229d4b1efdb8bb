"""What the page is told once, when it starts."""

from __future__ import annotations

import dataclasses

MEGABYTE = 1024 * 1024  # as Gradio's own message about large files counts
SMALLEST_EDGE = 16  # pixels; below that no face can be made out


@dataclasses.dataclass(frozen=True)
class PageSettings:
    """A value that is passed in; the defaults are the command's."""

    resize: str = 'crop'  # a key of RESIZES: what the page begins with
    face_crop: str = 'off'  # or 'auto': translate the largest face; what the page begins with
    background: str = 'white'  # shows through transparent parts
    max_megabytes: int = 20  # of a file; larger ones are refused while they arrive
    max_pixels: int = 50_000_000  # refused before they are decoded
    precision: str = 'mixed_float16'  # what the lab means by float16
    waiting: int = 20  # people in the queue; the next one is asked to come back
    keep_seconds: int = 600  # uploaded and computed pictures are deleted so long after they were made
