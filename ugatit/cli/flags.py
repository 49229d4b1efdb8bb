"""The flags of one script: absl's, but our own set, so `--help` shows nothing else, and mistakes become one sentence.

    FLAGS = CommandFlags('infer.py', 'Translates pictures.', examples=(..., ...), positional='input')
    FLAGS.group('Input and output')
    FLAGS.many('input', 'pictures, folders or patterns', value='PHOTO|DIR|GLOB')
    options = FLAGS.parse(sys.argv[1:])        # options.input is a list

`FLAGS.values` is the `absl.flags.FlagValues` behind it, for libraries that define flags themselves (config files).
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

from absl import flags as absl_flags

from ugatit.cli import arguments, help_text, parsers
from ugatit.cli.hints import did_you_mean, sentence
from ugatit.errors import UserError


class HelpRequested(Exception):
    """`--help` or `-h` was given: not an error; its text is the help."""


class CommandFlags:
    """A set of flags with help; each defining method returns nothing, values are read from what `parse` returns."""

    def __init__(
        self,
        script: str,  # as typed after `python`, also 'diagnose.py ranges'
        summary: str,  # one or two sentences: what the command does
        examples: Sequence[str] = (),  # whole command lines, most common first; the help opens with them
        positional: Optional[str] = None,  # the `many` flag that collects words without a flag; None: refuse them
    ) -> None:
        self.script, self.summary, self.examples, self.positional = script, summary, tuple(examples), positional
        self.values = absl_flags.FlagValues()
        self.groups: Dict[str, List[help_text.Entry]] = {}
        self.places: List[str] = []  # flags whose value may be a path
        self.outputs: Dict[str, str] = {}  # those that name a file to write -> its kind
        self._group = 'Flags'

    def group(self, title: str) -> None:
        """Flags defined from here on are listed under this title."""
        self._group = title

    def text(self, name: str, default: Optional[str], help: str, value: str = 'TEXT') -> None:
        """Any text that is not empty."""
        self.places.append(name)
        self._define(name, parsers.Text(), default, help, value)

    def path(self, name: str, default: Optional[str], help: str, value: str = 'PATH') -> None:
        """A file or a folder; only its emptiness is checked here."""
        self.places.append(name)
        self._define(name, parsers.Text(), default, help, value)

    def output_file(self, name: str, kind: str, help: str, value: str = 'FILE') -> None:
        """A file to write, None by default; `run` checks it as ugatit.cli.output_files says, whose KINDS are legal."""
        self.outputs[name] = kind
        self.path(name, None, help, value)

    def many(self, name: str, help: str, value: str = 'PATH') -> None:
        """A list: every use of the flag adds one value; empty without any."""
        self.places.append(name)
        flag = absl_flags.MultiFlag(parsers.Text(), absl_flags.ArgumentSerializer(), name, [], help)
        self._add(flag, help_text.Entry(name, value, None, help))

    def choice(self, name: str, default: Optional[str], legal: Sequence[str], help: str) -> None:
        """One of a few names, in any letter case; the value is spelled as in `legal`."""
        self._define(name, parsers.Choice(legal), default, help)

    def whole_number(
        self,
        name: str,
        default: Optional[int],
        help: str,
        at_least: Optional[int] = None,
        at_most: Optional[int] = None,
    ) -> None:
        """An int within bounds that are part of the error's sentence."""
        self._define(name, parsers.WholeNumber(at_least, at_most), default, help)

    def number(
        self,
        name: str,
        default: Optional[float],
        help: str,
        at_least: Optional[float] = None,
        at_most: Optional[float] = None,
    ) -> None:
        """A finite float within bounds that are part of the error's sentence."""
        self._define(name, parsers.Number(at_least, at_most), default, help)

    def boolean(self, name: str, default: bool, help: str) -> None:
        """--name, --noname, --name=true|false|1|0|yes|no, also with a blank in place of '='."""
        flag = absl_flags.Flag(parsers.Boolean(), None, name, default, help, boolean=True)
        self._add(flag, help_text.Entry(name, '', default, help))

    def parse(self, words: Sequence[str]) -> Any:
        """Reads a command line without the script's name; returns an object with one attribute per flag.

        Raises HelpRequested, or UserError with a sentence that names the flag, what was expected and what is near it.
        """
        words, stray = arguments.separate(words, self.values)
        if any(word in ('--help', '-h', '-help', '--helpfull', '--helpshort') for word in words):
            raise HelpRequested(self.help())
        for name in arguments.ABSL_ONLY:
            if any(word.lstrip('-').partition('=')[0] == name for word in words if word.startswith('-')):
                raise UserError(self._unknown(name))
        self.values.unparse_flags()
        try:
            self._collect(self.values([self.script, *words])[1:] + stray)
        except absl_flags.UnrecognizedFlagError as error:
            raise UserError(self._unknown(error.flagname)) from None
        except UserError:
            raise
        except (absl_flags.Error, ValueError) as error:
            raise UserError(sentence(str(error).replace('flag --', '--', 1))) from None
        return self.values

    def help(self) -> str:
        """The text of `--help`."""
        return help_text.render(self.script, self.summary, self.examples, self.groups)

    def given(self, name: str) -> bool:
        """Whether the last parsed command line named this flag (its value may still equal the default)."""
        return bool(self.values[name].present)

    def _define(
        self, name: str, parser: absl_flags.ArgumentParser, default: Any, help: str, value: Optional[str] = None
    ) -> None:
        flag = absl_flags.Flag(parser, absl_flags.ArgumentSerializer(), name, default, help)
        self._add(flag, help_text.Entry(name, value or parser.syntactic_help, default, help))

    def _add(self, flag: absl_flags.Flag, entry: help_text.Entry) -> None:
        absl_flags.DEFINE_flag(flag, flag_values=self.values, module_name=self.script)
        self.groups.setdefault(self._group, []).append(entry)

    def _unknown(self, name: str) -> str:
        legal = [flag for flag in self.values if flag != '?']
        hint = did_you_mean(name, legal, prefix='--') or f'; python {self.script} --help lists the flags'
        return sentence(f'{self.script} has no flag --{name}{hint}')

    def _collect(self, stray: Sequence[str]) -> None:
        if not stray:
            return
        if self.positional is None:
            raise UserError(
                f'expected only flags, but {stray[0]!r} arrived without one; write --FLAG={stray[0]}'
                f' (python {self.script} --help lists the flags).'
            )
        self.values[self.positional].parse(list(stray))
