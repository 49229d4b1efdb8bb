"""Finds out what overflows and why: `python diagnose.py --help` lists the commands."""

import sys

from ugatit.cli.commands import compare, device, dump, overflow, ranges, stress, strip
from ugatit.cli.main import run_command

COMMANDS = {
    'ranges': ranges.COMMAND,
    'stress': stress.COMMAND,
    'strip': strip.COMMAND,
    'device': device.COMMAND,
    'dump': dump.COMMAND,
    'overflow': overflow.COMMAND,
    'compare': compare.COMMAND,
}

if __name__ == '__main__':
    sys.exit(run_command('diagnose.py', 'Finds out what overflows float16, where and why.', COMMANDS))
