"""`python -m ugatit.data`: draws the faces that the demo model was trained on."""

from __future__ import annotations

import pathlib
from typing import Any

from ugatit.cli.flags import CommandFlags
from ugatit.cli.main import DONE, Command
from ugatit.cli.progress import Progress

FLAGS = CommandFlags(
    '-m ugatit.data',
    'Draws two unpaired sets of faces, seeded, in the layout that train.py reads: A in smooth lines (Open Peeps), B in'
    ' blocks (Pixel Art), both CC0. Needs the extra [demo]. Exit 0: done, 2: bad usage.',
    examples=(
        'python -m ugatit.data --output=dataset/avatars',
        'python -m ugatit.data --output=dataset/large --train=500 --test=50 --size=256 --seed=1',
    ),
)
FLAGS.group('What to draw, and where')
FLAGS.path('output', None, 'folder for trainA, trainB, testA and testB, which must be empty or missing', value='DIR')
FLAGS.whole_number('train', 3000, 'training pictures of each domain', at_least=0, at_most=99_999)
FLAGS.whole_number('test', 500, 'test pictures of each domain, no face of which is a training picture', at_least=0,
                   at_most=99_999)  # fmt: skip
FLAGS.whole_number('size', 64, 'side of the pictures, pixels', at_least=8, at_most=4096)
FLAGS.whole_number('seed', 0, 'another one gives other faces', at_least=0, at_most=2**32 - 1)


def main(options: Any) -> int:
    """Says what it drew, and under which licences."""
    from ugatit.cli.commands.model_flags import required
    from ugatit.data.avatars import STYLES, make_avatars

    required(options, 'output')
    counts = make_avatars(
        pathlib.Path(options.output),
        options.train,
        options.test,
        options.size,
        options.seed,
        progress=lambda tasks: Progress(tasks, 'faces'),
    )
    print(f'{options.output}: {", ".join(f"{count} in {folder}" for folder, count in counts.items())}')
    for domain, style in STYLES.items():
        print(f'{domain}: {style.name}, {style.licence}, {style.source}')
    return DONE


COMMAND = Command(main, FLAGS, needs_tensorflow=False)
