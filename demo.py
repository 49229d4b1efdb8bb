"""A local web page to try a checkpoint and to see what float16 does: python demo.py --help"""

from __future__ import annotations

import sys
from typing import Any

from ugatit.cli.flags import CommandFlags
from ugatit.cli.main import run
from ugatit.cli.tensorflow import import_tensorflow

FLAGS = CommandFlags(
    'demo.py',
    'Serves a web page on this machine alone: translate pictures from a file, the camera or the examples, and compare'
    ' float32, float16 as it is and float16 with a range plan. Nothing leaves the machine. Ctrl-C ends it.',
    examples=(
        'python demo.py',
        'python demo.py --checkpoint=UGATIT_selfie2anime --calibration_a=photos --calibration_b=drawings',
    ),
)
FLAGS.group('Model')
FLAGS.path(
    'checkpoint', None, 'folder, a folder above it, prefix or .index file; without it the demo model, which knows'
    ' drawn faces alone',
)  # fmt: skip
FLAGS.whole_number(
    'image_size', None, "side of the network's square, a multiple of 4; light models only, full ones are tied to"
    ' theirs; without it what the checkpoint says', at_least=8, at_most=8192,
)  # fmt: skip
FLAGS.choice('device', 'auto', ('auto', 'cpu', 'gpu'), 'where to compute; auto: the GPU where there is one')
FLAGS.text(
    'variants', 'default', 'changes to layers: a preset under configs/variants, or a .py file', value='NAME|FILE'
)
FLAGS.group('Float16 lab')
FLAGS.choice(
    'precision', 'mixed_float16', ('mixed_float16', 'float16', 'float16_operands'),
    'what float16 means there: in convolutions and dense layers, everywhere, or in what they multiply',
)  # fmt: skip
for _domain, _meaning in (('a', 'photographs, for a2b'), ('b', 'drawings, for b2a')):
    FLAGS.path(
        f'calibration_{_domain}', None, f'pictures of domain {_domain.upper()} ({_meaning}) that range plans are'
        " measured on, 16 or more; without any the demo model's own, or with a --checkpoint stand-ins",
        value='DIR|GLOB',
    )  # fmt: skip
FLAGS.group('Pictures')
FLAGS.choice('resize', 'crop', ('crop', 'pad', 'stretch'), 'how a picture becomes a square, as infer.py --resize; the'
             ' page begins with it')  # fmt: skip
FLAGS.choice('face_crop', 'off', ('off', 'auto'), 'auto: translate the largest face of a photograph, framed as the'
             " selfie2anime data are (pip install -e '.[faces]'); the page begins with it")  # fmt: skip
FLAGS.text('background', 'white', 'shows through transparent parts: a colour name or #rrggbb', value='COLOUR')
FLAGS.whole_number('max_megabytes', 20, 'larger files are refused', at_least=1, at_most=1000)
FLAGS.whole_number('max_pixels', 50_000_000, 'pictures with more pixels are refused', at_least=1)
FLAGS.group('Server')
FLAGS.whole_number('port', 7860, 'of http://127.0.0.1:PORT; 0: any free one', at_least=0, at_most=65535)
FLAGS.boolean('share', False, 'also show the page on the internet, through a tunnel that Gradio fetches and its'
              ' company runs: pictures then leave this machine, and whoever has the link may use it')  # fmt: skip


def main(options: Any) -> int:
    """Flags in, library call, exit code out. What can be checked without TensorFlow comes before its import."""
    from ugatit.data.samples import parse_colour
    from ugatit.web.server import free_port, require_gradio
    from ugatit.web.settings import PageSettings

    require_gradio()
    parse_colour(options.background)
    port = free_port(options.port)
    settings = PageSettings(
        resize=options.resize,
        face_crop=options.face_crop,
        background=options.background,
        max_megabytes=options.max_megabytes,
        max_pixels=options.max_pixels,
        precision=options.precision,
    )
    import_tensorflow()

    from ugatit.inference.model import choose_model
    from ugatit.web.run import run_page

    choice = choose_model(
        options.checkpoint,
        direction='a2b',
        precision='float32',
        overflow='ieee',
        variants=options.variants,
        device=options.device,
        image_size=options.image_size,
    )
    calibration = (options.calibration_a, options.calibration_b)
    run_page(choice, options.checkpoint is None, calibration, settings, port, options.share)
    return 0


if __name__ == '__main__':
    sys.exit(run(main, FLAGS, needs_tensorflow=False))
