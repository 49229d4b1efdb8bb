"""`diagnose.py compare`: two dumps of the same network, tensor by tensor; the first bad operator and why."""

from __future__ import annotations

import pathlib
import sys
from typing import Any, List, Optional

from ugatit.cli.commands import model_flags
from ugatit.cli.flags import CommandFlags
from ugatit.cli.main import DONE, SOME_FAILED, THRESHOLD_PASSED, Command
from ugatit.cli.output_files import check_output_file
from ugatit.errors import UserError

FLAGS = CommandFlags(
    'diagnose.py compare',
    "Compares two dumps with the vendor's measures, in constant memory, and names the first operator that went wrong"
    " with its inputs' state. Each side may be an NPU's binary dump, one converted to .npy or .bin, or the .npy files"
    ' of a CPU or GPU.',
    examples=(
        'python diagnose.py compare --left=npu_dump --right=tensorflow_npy --csv=result.csv --html=result.html',
        'python diagnose.py compare --left=npu_dump --right=tensorflow_npy --cosine_below=0.99',
    ),
)
FLAGS.group('What to compare')
FLAGS.path('left', None, 'the dump in question', value='DIR')
FLAGS.path('right', None, 'the dump that is right', value='DIR')
FLAGS.text('graph', None, 'graph to compare where several were dumped; without it, the one that fits', value='NAME')
FLAGS.path('ge_graphs', None, 'where ge_proto_*_Build.txt files are, if not below --left', value='DIR')
FLAGS.boolean('list', False, 'only list what graphs were dumped, and what each is')
FLAGS.group('What counts as wrong')
FLAGS.number('bad_cosine', 0.99, 'an output is bad below this cosine similarity', at_least=-1.0, at_most=1.0)
FLAGS.number('bad_distance', 0.05, 'an output is bad above this relative Euclidean distance', at_least=0.0)
FLAGS.group('Thresholds: exit code 3 where any output passes one')
FLAGS.number('cosine_below', None, 'smallest cosine similarity that is accepted', at_least=-1.0, at_most=1.0)
FLAGS.number('distance_above', None, 'largest relative Euclidean distance that is accepted', at_least=0.0)
FLAGS.number('max_error_above', None, 'largest absolute error that is accepted', at_least=0.0)
FLAGS.boolean('fail_on_overflow', False, 'no float16 output may reach 65504')
FLAGS.group('Output')
FLAGS.whole_number('top', 10, 'rows of the summary, the worst first', at_least=0)
FLAGS.output_file('csv', 'csv', "write the vendor's sheet here")
FLAGS.output_file('json', 'json', 'write everything here, machine-readable')
FLAGS.output_file('html', 'html', 'write a page with the divergence along the network here')
FLAGS.boolean('resume', False, 'go on where an interrupted comparison with the same --csv, --json or --html stopped')


def main(options: Any) -> int:
    """Exit code 1 where files could not be read, 2 where nothing could be compared, 3 where a threshold is passed."""
    from ugatit.cli.progress import Progress
    from ugatit.dumps.compare import compare
    from ugatit.dumps.matching import listing
    from ugatit.dumps.tree import scan
    from ugatit.dumps.verdict import Limits

    model_flags.required(options, 'left')
    left = scan(options.left, options.ge_graphs)
    if options.list and not options.right:
        print(listing(left))
        return DONE
    model_flags.required(options, 'right')
    right = scan(options.right, options.ge_graphs)
    if options.list:
        print(listing(left, right))
        return DONE
    limits = Limits(options.bad_cosine, options.bad_distance)
    comparison = compare(left, right, options.graph, limits, Progress, _journal(options), options.resume)
    return _tell(options, comparison)


def _journal(options: Any) -> Optional[pathlib.Path]:
    place = options.csv or options.json or options.html
    if options.resume and not place:
        raise UserError('--resume continues what --csv, --json or --html was written for, but none of them is given.')
    if not place:
        return None
    journal = f'{place}.partial'
    check_output_file('csv' if options.csv else 'json' if options.json else 'html', journal, 'journal')
    return pathlib.Path(journal)


def _tell(options: Any, comparison: Any) -> int:
    from ugatit.dumps.page import page
    from ugatit.dumps.summary import passed, summary
    from ugatit.dumps.table import csv_text

    print(summary(comparison, options.top))
    beyond: List[str] = passed(
        comparison, options.cosine_below, options.distance_above, options.max_error_above, options.fail_on_overflow
    )
    model_flags.write_text(options.csv, 'sheet', lambda: csv_text(comparison.rows))
    model_flags.write_text(options.html, 'page', lambda: page(comparison, options.bad_distance))
    model_flags.write_json(options.json, {**comparison.to_json(), 'passed_thresholds': beyond})
    failures = [*comparison.failures, *_unreadable(comparison)]
    for line in [*beyond, *failures]:
        print(line, file=sys.stderr)
    if beyond:
        return THRESHOLD_PASSED
    _check_compared(options, comparison)
    return SOME_FAILED if failures else DONE


def _unreadable(comparison: Any) -> List[str]:
    """Why pairs could not be compared whose files are damaged; other kinds of output may simply not fit."""
    found = []
    for pair, row in zip(comparison.matching.pairs, comparison.rows):
        if row.metrics is None:
            try:
                pair.left.open(), pair.right.open()
            except UserError as error:
                found.append(str(error))
    return found


def _check_compared(options: Any, comparison: Any) -> None:
    """UserError where 'everything is fine' would only mean that nothing was looked at."""
    from ugatit.dumps.summary import judged

    pairs = len(comparison.matching.pairs)
    if not comparison.compared:
        raise UserError(f'nothing was compared: of the {pairs} outputs that both dumps have none could be; see the'
                        ' reasons above, and check that both folders are whole dumps.')  # fmt: skip
    given = [options.cosine_below, options.distance_above, options.max_error_above]
    if (options.fail_on_overflow or any(limit is not None for limit in given)) and not judged(comparison):
        raise UserError('thresholds were given, but no compared output has more than one value, so none was judged;'
                        ' compare dumps of whole tensors.')  # fmt: skip


COMMAND = Command(main, FLAGS, needs_tensorflow=False)
