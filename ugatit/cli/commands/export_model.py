"""`export.py --format=saved_model|frozen_graph|onnx|tflite`: plan, write, check, and say what came of it."""

from __future__ import annotations

import pathlib
import sys
from typing import Any, Dict, List, NamedTuple, Optional

from ugatit.cli.commands import model_flags
from ugatit.cli.main import DONE, SOME_FAILED
from ugatit.errors import UserError

_CHECKED = 3  # pictures that are compared, and lie beside the file


class _Pictures(NamedTuple):
    images: Any  # [N, size, size, 3] in [-1, 1]
    given: bool  # False: seeded noise
    failures: List[str]


def main(options: Any) -> int:
    """Exit code 1 where a calibration picture could not be read; nothing is written where the check fails."""
    from ugatit.checkpoints.location import locate
    from ugatit.data.names import printable
    from ugatit.diagnosis.dropin import quietly
    from ugatit.export.formats import FORMATS, require_packages
    from ugatit.export.generator import statistics_for, with_statistics
    from ugatit.export.write import check_output, export_file
    from ugatit.nn.presets import load_variants

    chosen, output = FORMATS[options.format], pathlib.Path(options.output)
    require_packages(chosen)
    check_output(output, chosen)
    location = locate(options.checkpoint)
    statistics = statistics_for(options.precision, options.statistics)
    settings = _settings(options, statistics)
    pictures = _pictures(options, location.prefix)
    variants = load_variants(options.variants)
    with quietly():
        source, plan = _source(options, location.prefix, variants, pictures, settings)
        chosen_variants = with_statistics(variants, statistics)
        translate = _loaded(options, location.prefix, chosen_variants, plan, pictures)
    settings = _resolved(settings, translate)
    _warn(translate, settings, pictures)
    origin = {
        'checkpoint': location.name,
        'step': location.step,
        'calibration_pictures': len(pictures.images) if pictures.given else 0,
    }
    made = export_file(source, translate, _checked(options, pictures), output, settings, origin)
    print(f'{options.format}: {printable(output)}, {made.size / 1e6:.1f} MB, {settings.precision}, '
          f'{_ranges_text(made.facts["exponents"])}')  # fmt: skip
    print(f'checked: {made.check.text()}')
    print(f'run it: python infer.py --model={printable(output)} --input=PHOTO')
    for line in made.lines:
        print(f'not run here: {line}')
    model_flags.write_json(options.json, {**made.facts, 'operators': made.operators})
    for failure in pictures.failures:
        print(failure, file=sys.stderr)
    return SOME_FAILED if pictures.failures else DONE


def _settings(options: Any, statistics: Optional[str]) -> Any:
    from ugatit.export.check import default_bound
    from ugatit.export.settings import ExportSettings, Interface

    interface = Interface(options.dynamic_batch, options.dynamic_size, options.uint8, options.heatmap)
    return ExportSettings(
        format=options.format,
        bound=default_bound(options.precision, options.uint8, options.max_difference, options.min_psnr),
        precision=options.precision,
        statistics=statistics or 'plain',
        interface=interface,
        reflect_pad=options.reflect_pad,
        opset=options.opset,
        # Plain statistics in float16 throughout square in float16, so the plan must make squares fit as well.
        fit_squares=options.fit_squares or (options.precision == 'float16' and statistics == 'plain'),
        soc_version=options.soc_version,
        precision_mode=options.precision_mode,
    )


def _pictures(options: Any, prefix: Any) -> _Pictures:
    from ugatit.diagnosis.dropin import quietly
    from ugatit.diagnosis.pictures import noise_pictures, read_pictures, trained_size

    given = options.calibration_a if options.direction == 'a2b' else options.calibration_b
    size = trained_size(prefix, options.direction, options.image_size)
    if given:
        with quietly():
            found = read_pictures(given, size, options.pictures)
        print(f'{options.direction}: {len(found.images)} pictures of {size}x{size}', file=sys.stderr)
        return _Pictures(found.images, True, list(found.failures))
    if options.ranges == 'auto':
        domain = options.direction[0]
        raise UserError(f'--ranges=auto needs calibration pictures for {options.direction}, but --calibration_{domain}'
                        f' is missing; write --calibration_{domain}=DIR, or --ranges=none or a plan.')  # fmt: skip
    print('no calibration pictures: checked on seeded noise', file=sys.stderr)
    return _Pictures(noise_pictures(_CHECKED, size), False, [])


def _checked(options: Any, pictures: _Pictures) -> Any:
    """The pictures that are compared; of 256 levels where the file takes bytes."""
    from ugatit.data.convert import to_float, to_uint8

    chosen = pictures.images[:_CHECKED]
    return to_float(to_uint8(chosen)) if options.uint8 else chosen


def _source(options: Any, prefix: Any, variants: Any, pictures: _Pictures, settings: Any) -> Any:
    """What the checkpoint computes in float32 without a plan, and the plan; the model is let go again."""
    from ugatit.cli.progress import Progress
    from ugatit.export.limits import check_size
    from ugatit.planning import plan_ranges, profile_ranges, require_network
    from ugatit.ranges import RangePlan

    translate = _loaded(options, prefix, variants, None, pictures)
    settings.interface.check(translate.architecture)
    check_size(translate.generator, settings)  # here, too: planning may take minutes
    source = translate(_checked(options, pictures))
    if options.ranges == 'none':
        return source, None
    if options.ranges != 'auto':
        plan = RangePlan.load(options.ranges)
        require_network(plan, options.direction)
        return source, plan
    profile = profile_ranges(translate, pictures.images, progress=lambda batches: Progress(batches, 'batches'))
    plan = plan_ranges(translate, profile, options.headroom_bits, settings.fit_squares)
    for note in plan.notes:
        print(f'note: {note}', file=sys.stderr)
    return source, plan


def _loaded(options: Any, prefix: Any, variants: Any, plan: Any, pictures: _Pictures) -> Any:
    """On the CPU: an export must not need the device that it is for."""
    from ugatit.translate import load

    # Plain, as the file will be: the identities' sums are in another order.
    translate = load(
        prefix, options.direction, ranges=plan, variants=variants, device='cpu', image_size=options.image_size,
        algebra='plain',
    )  # fmt: skip
    if translate.uncalibrated:
        if not pictures.given:
            domain = options.direction[0]
            raise UserError(f'--variants={options.variants} needs running statistics, which the checkpoint lacks;'
                            f' write --calibration_{domain}=DIR, and they are measured.')  # fmt: skip
        translate.calibrate(pictures.images)
    return translate


def _resolved(settings: Any, translate: Any) -> Any:
    """With the statistics that the norms really have, for what is said about them."""
    import dataclasses

    rows = translate.generator.registry.variants.values()
    kinds = {row['statistics'] for row in rows if 'statistics' in row}
    return dataclasses.replace(settings, statistics=kinds.pop() if len(kinds) == 1 else 'mixed')


def _warn(translate: Any, settings: Any, pictures: _Pictures) -> None:
    """CPU runtimes keep float32 between float16 operators, so their pictures cannot show that a value does not fit."""
    from ugatit.nn.policy import make_policy
    from ugatit.planning import profile_ranges

    if settings.precision == 'float32':
        return
    profile = profile_ranges(translate, pictures.images[:_CHECKED])
    first = profile.first_overflow(make_policy(settings.precision))
    if first is not None:
        print(f'warning: {first.name} reaches {first.amax:.6g}, which float16 cannot hold: pictures will be wrong where'
              ' halves are computed, whatever the check here says; --ranges=auto cures it',
              file=sys.stderr)  # fmt: skip


def _ranges_text(exponents: Dict[str, int]) -> str:
    scaled = {group: e for group, e in exponents.items() if e}
    if not scaled:
        return 'no range group scaled'
    return f'{len(scaled)} range groups scaled by up to 2**-{max(scaled.values())}'
