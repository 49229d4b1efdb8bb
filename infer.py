"""Translates pictures with a U-GAT-IT checkpoint: python infer.py --help"""

from __future__ import annotations

import sys
from typing import Any, List

from ugatit.cli.flags import CommandFlags
from ugatit.cli.main import run
from ugatit.cli.npu_flags import npu_flags, npu_settings
from ugatit.cli.progress import Progress
from ugatit.cli.tensorflow import import_tensorflow
from ugatit.errors import UserError

FLAGS = CommandFlags(
    'infer.py',
    'Translates pictures of faces with a U-GAT-IT checkpoint, and writes the results as PNG; or a video, frame by'
    ' frame. Reads JPEG, PNG, WebP, BMP, TIFF and GIF, and videos of any usual format. Exit 0: all done, 1: some'
    ' pictures failed (listed at the end), 2: bad usage, or none done.',
    examples=(
        'python infer.py --checkpoint=UGATIT_selfie2anime --input=photo.jpg --output=results',
        'python infer.py --checkpoint=UGATIT_selfie2anime --input=photos --output=results --heatmap --html',
        'python infer.py --checkpoint=UGATIT_selfie2anime --input=party.jpg --face_crop=all',
        'python infer.py --checkpoint=UGATIT_selfie2anime --input=clip.mp4 --output=anime.mp4 --face_crop=auto',
    ),
    positional='input',
)
FLAGS.group('Model')
FLAGS.path(
    'checkpoint', None, 'folder, a folder above it, prefix or .index file; without it the demo model, which knows'
    ' drawn faces alone',
)  # fmt: skip
FLAGS.path('model', None, 'an exported file (.onnx, .tflite, .pb, folder of a SavedModel) in place of a checkpoint;'
           ' it runs in its own runtime on the CPU', value='FILE')  # fmt: skip
FLAGS.choice('direction', 'a2b', ('a2b', 'b2a'), 'a2b: photograph to anime (generator_B), b2a: back (generator_A)')
FLAGS.whole_number(
    'image_size', None, "side of the network's square, a multiple of 4; light models only, full ones are tied to"
    ' theirs; without it what the checkpoint says', at_least=8, at_most=8192,
)  # fmt: skip
FLAGS.choice('device', 'auto', ('auto', 'cpu', 'gpu', 'npu'), 'where to compute; auto: the GPU where there is one')
FLAGS.group('Pictures')
FLAGS.many(
    'input', "pictures, folders or patterns, also without --input=; may be repeated; or one video (pip install -e"
    " '.[video]'); without any the pictures of the demo model, or with a --checkpoint an embedded portrait",
    value='PHOTO|DIR|GLOB',
)  # fmt: skip
FLAGS.boolean('recursive', False, 'also look into the subfolders of folders')
FLAGS.choice(
    'resize', 'stretch', ('stretch', 'pad', 'crop', 'official', 'antialiased'),
    "how a picture becomes a square: stretch changes the aspect ratio as the official code does (antialiased: the same"
    " word for it), pad mirrors the picture into free margins, crop takes the centre; official: stretch with the"
    " original's filter",
)  # fmt: skip
FLAGS.choice(
    'face_crop', 'off', ('off', 'auto', 'all'), "translate a photograph's largest face (auto) or every face (all),"
    " framed as the selfie2anime data are, in place of the whole picture; the centre where none is found; pip install"
    " -e '.[faces]'",
)  # fmt: skip
FLAGS.boolean(
    'paste_back', False, 'with --face_crop=auto: results are the photograph with the translated face in it; with all:'
    ' also write NAME_pasted.png with every face in it',
)  # fmt: skip
FLAGS.text('background', 'white', 'shows through transparent parts: a colour name or #rrggbb', value='COLOUR')
FLAGS.whole_number('max_pixels', 100_000_000, 'pictures with more pixels are refused', at_least=1)
FLAGS.whole_number(
    'batch_size', 1, 'pictures per call of the network; more is faster on a GPU', at_least=1, at_most=4096
)
FLAGS.group('Results')
FLAGS.path(
    'output', 'results', 'folder, or for one picture a file that ends in .png; for a video or an animated GIF one that'
    ' ends in .mp4, .mov, .mkv, .webm or .gif', value='DIR|FILE',
)  # fmt: skip
FLAGS.boolean('keep_size', False, "results have their input's size (after crop: that of the cropped square)")
FLAGS.boolean('side_by_side', False, 'videos show the input to the left of the result')
FLAGS.boolean('heatmap', False, 'also write NAME_heatmap.png: where the network looked, laid over the input')
FLAGS.boolean('arrays', False, "also write NAME.npy: the network's own result, float32 [size, size, 3] in [-1, 1]")
FLAGS.boolean('html', False, 'also write a page with all pictures, which needs no other file')
FLAGS.output_file('json', 'json', 'also write a report that lists every input with its outcome')
FLAGS.group('Metrics')
FLAGS.path(
    'metrics_against', None, 'also print how far the results as a set are from the pictures of this folder: KID and'
    ' FID, and PSNR and SSIM of equal names; real pictures of the target domain, or results of another run',
    value='DIR',
)  # fmt: skip
FLAGS.path(
    'inception', None, 'features of a local graph, inceptionv1_for_inception_score.pb or classify_image_graph_def.pb,'
    ' as for published KID; without it fixed random convolutions, whose numbers compare only with themselves',
    value='FILE',
)  # fmt: skip
FLAGS.whole_number('kid_subsets', 100, 'random subsets that KID is the mean of', at_least=1, at_most=100_000)
FLAGS.whole_number(
    'kid_subset_size', None, 'pictures of each set in a subset; without it half of the smaller set, at most 1000',
    at_least=2,
)  # fmt: skip
FLAGS.whole_number('kid_seed', 0, 'of the random subsets', at_least=0, at_most=2**32 - 1)
FLAGS.group('Arithmetic')
FLAGS.choice(
    'precision', 'float32', ('float32', 'mixed_float16', 'float16', 'float16_operands', 'mixed_bfloat16'),
    'formats of values; emulated where the device does not have them',
)  # fmt: skip
FLAGS.choice('overflow', 'ieee', ('ieee', 'saturate'), 'beyond 65504: infinity, or 65504 as on an Ascend 910')
FLAGS.path(
    'ranges', 'none', 'range plan that makes float16 fit without changing the function; auto: made from the first 64'
    ' pictures by name', value='none|auto|PLAN.json',
)  # fmt: skip
FLAGS.text(
    'variants', 'default', 'changes to layers: a preset under configs/variants, or a .py file', value='NAME|FILE'
)
npu_flags(FLAGS)


def main(options: Any) -> int:
    """Flags in, library call, exit code out. What can be checked without TensorFlow comes before its import."""
    from ugatit.data.faces import require_detector
    from ugatit.inference.faces import each_face
    from ugatit.inference.inputs import find_inputs
    from ugatit.inference.outputs import assign_outputs, require_report_path
    from ugatit.inference.settings import Settings
    from ugatit.inference.video_job import find_video, video_job

    settings = Settings(
        resize=options.resize,
        keep_size=options.keep_size,
        heatmap=options.heatmap,
        arrays=options.arrays,
        batch_size=options.batch_size,
        background=options.background,
        max_pixels=options.max_pixels,
        thumbnails=options.html,
        face_crop=options.face_crop,
        paste_back=options.paste_back,
    )
    _settle_model(options)
    if settings.face_crop != 'off':
        require_detector()
    clip = find_video(options.input, options.output)
    if clip is not None:
        return _video(options, video_job(clip, options.output, options.direction, options.side_by_side), settings)
    _require_videos_flags_unused()
    found = each_face(find_inputs(_sources(options), options.recursive), settings, Progress)
    assignment = assign_outputs(found.inputs, options.output, options.direction, settings)
    if options.json is not None:
        require_report_path(options.json, assignment)
    targets = _targets(options, assignment)
    import_tensorflow()
    if options.model is not None:
        return _exported(options, found, assignment, settings, None if targets is None else _judge(options, targets))

    from ugatit.inference.command import infer

    choice = _choice(options)
    judge = None if targets is None else _judge(options, targets)
    return infer(choice, found, assignment, settings, options.ranges, options.json, Progress, judge)


def _choice(options: Any) -> Any:
    from ugatit.inference.model import choose_model

    return choose_model(
        options.checkpoint,
        direction=options.direction,
        precision=options.precision,
        overflow=options.overflow,
        variants=options.variants,
        device=options.device,
        image_size=options.image_size,
        npu=npu_settings(options),
    )


def _video(options: Any, job: Any, settings: Any) -> int:
    """One clip in place of pictures."""
    for name in ('heatmap', 'arrays', 'html', 'metrics_against'):
        if FLAGS.given(name) and getattr(options, name):
            raise UserError(f'--{name} is for pictures, but {job.path} is a video; leave it out.')
    if settings.face_crop == 'all':
        raise UserError(
            '--face_crop=all makes several results of a picture, but a video has one; use --face_crop=auto.'
        )
    import_tensorflow()
    from ugatit.inference.video_command import clip_crop, infer_video, translate_video

    if options.model is None:
        return infer_video(_choice(options), job, settings, options.ranges, options.json, Progress)
    translate = _exported_model(options)
    return translate_video(translate, translate.describe(), translate.line(), job, settings,
                           clip_crop(job.path, settings), options.json, Progress)  # fmt: skip


def _require_videos_flags_unused() -> None:
    if FLAGS.given('side_by_side'):
        raise UserError('--side_by_side is for videos, but no video is among the inputs; --html shows pictures beside'
                        ' their results.')  # fmt: skip


def _sources(options: Any) -> List[str]:
    """What to look for pictures in: the demo model's where neither pictures nor a model are named."""
    if options.input or options.checkpoint or options.model:
        return options.input
    from ugatit.checkpoints.demo import demo_pictures

    return [str(demo_pictures(options.direction))]


def _targets(options: Any, assignment: Any) -> Any:
    from ugatit.evaluation.results import target_files

    if options.metrics_against is None:
        for name in ('inception', 'kid_subsets', 'kid_subset_size', 'kid_seed'):
            if FLAGS.given(name):
                raise UserError(f'--{name} belongs to --metrics_against=DIR, which is missing; name the pictures to'
                                ' compare with.')  # fmt: skip
        return None
    return target_files(options.metrics_against, assignment, options.kid_subset_size)


def _judge(options: Any, targets: Any) -> Any:
    from ugatit.evaluation.results import results_judge
    from ugatit.inference.settings import RESIZES

    return results_judge(
        targets,
        options.inception,
        RESIZES[options.resize][0],
        options.kid_subsets,
        options.kid_subset_size,
        options.kid_seed,
        Progress,
    )


def _settle_model(options: Any) -> None:
    """With --model the file decides the direction, and its arithmetic is in it."""
    if options.model is None:
        return
    from ugatit.export.sidecar import stored_direction

    for name in ('checkpoint', 'device', 'precision', 'overflow', 'ranges', 'variants'):
        if FLAGS.given(name):
            raise UserError(f'--{name} does not go with --model, whose file has weights and arithmetic in it; leave it'
                            ' out, or export the model again.')  # fmt: skip
    options.direction = stored_direction(options.model, options.direction if FLAGS.given('direction') else None)


def _exported(options: Any, found: Any, assignment: Any, settings: Any, judge: Any) -> int:
    """An exported file in place of a checkpoint."""
    from ugatit.inference.command import translate_all

    translate = _exported_model(options)
    if settings.heatmap:
        translate.require_heatmap()
    return translate_all(translate, translate.describe(), translate.line(), found, assignment, settings,
                         options.json, Progress, judge)  # fmt: skip


def _exported_model(options: Any) -> Any:
    from ugatit.export.exported import ExportedModel

    return ExportedModel(options.model, options.image_size)


if __name__ == '__main__':
    sys.exit(run(main, FLAGS, needs_tensorflow=False))
