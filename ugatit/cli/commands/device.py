"""`diagnose.py device`: what arithmetic this device really has, beside what the emulation assumes."""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

from ugatit.cli import npu_flags
from ugatit.cli.commands import model_flags
from ugatit.cli.flags import CommandFlags
from ugatit.cli.main import DONE, THRESHOLD_PASSED, Command

# Names of ugatit.diagnosis.device.known, which needs TensorFlow; a test holds them together.
KNOWN = ('float32', 'tf32', 'hf32', 'ascend910', 'ascend910_force_fp16', 'float16_operands', 'mixed_float16', 'float16',
         'bfloat16')  # fmt: skip
ON_NPU: Dict[str, str] = {
    'float32': 'float32',
    'mixed_float16': 'ascend910',
    'float16': 'ascend910_force_fp16',
    'float16_operands': 'float16_operands',
    'mixed_bfloat16': 'bfloat16',
}

FLAGS = CommandFlags(
    'diagnose.py device',
    'Finds out by two dozen tiny computations how a device multiplies, adds, rounds and overflows, and prints what'
    ' that is and where the emulation assumes something else. Takes less than a minute on a CPU and touches no files.',
    examples=(
        'python diagnose.py device',
        'python diagnose.py device --device=npu --json=card.json',
        'python diagnose.py device --emulate=ascend910',
    ),
)
FLAGS.group('What to look at')
FLAGS.choice('device', 'auto', ('auto', 'cpu', 'gpu', 'npu'), 'where to compute; auto: the GPU where there is one')
FLAGS.choice('precision', 'mixed_float16', tuple(ON_NPU), 'the precision mode that an NPU is opened in; others are'
             ' looked at as they are')  # fmt: skip
FLAGS.choice('emulate', None, KNOWN, 'instead: the card of an emulated device, computed on the CPU')
FLAGS.group('What to compare with')
FLAGS.choice(
    'assume', None, KNOWN, 'say where the device is not this; without it an NPU is compared with what the emulation of'
    ' its precision assumes, any other with what is nearest',
)  # fmt: skip
FLAGS.boolean('fail_on_difference', False, 'exit 3 where the device is not what was assumed')
FLAGS.output_file('json', 'json', 'write everything here, machine-readable')
npu_flags.option_flags(FLAGS)


def main(options: Any) -> int:
    """Exit code 0, or 3 with --fail_on_difference where an assumption is wrong."""
    from ugatit.diagnosis.device.card import Card, assumptions, card_text

    known = assumptions()  # before an NPU is opened: from then on TensorFlow's functions are the adapter's
    name, arithmetic = _arithmetic(options)
    card = Card(name, _measured(arithmetic), known)
    assumed = _assumed(options)
    print(card_text(card, assumed))
    model_flags.write_json(options.json, card.to_json(assumed))
    wrong = any(card.differences(wanted) for wanted in assumed or [card.nearest()[0]])
    return THRESHOLD_PASSED if wrong and options.fail_on_difference else DONE


def _arithmetic(options: Any) -> Tuple[str, Any]:
    from ugatit.diagnosis.device.arithmetic import Arithmetic
    from ugatit.diagnosis.device.known import KNOWN as EMULATED
    from ugatit.nn.policy import make_policy
    from ugatit.runners import open_runner

    if options.emulate:
        known = EMULATED[options.emulate]
        return f'emulated: {options.emulate}, {known.summary}', known.arithmetic()
    runner = open_runner(options.device, make_policy(options.precision), npu=npu_flags.npu_settings(options))
    return runner.description, Arithmetic(runner)


def _measured(arithmetic: Any) -> Any:
    from ugatit.cli.progress import Progress
    from ugatit.diagnosis.device.experiments import measure

    return measure(arithmetic, lambda experiments: Progress(experiments, 'experiments'))


def _assumed(options: Any) -> List[str]:
    if options.assume:
        return [options.assume]
    return [ON_NPU[options.precision]] if options.device == 'npu' and not options.emulate else []


COMMAND = Command(main, FLAGS)
