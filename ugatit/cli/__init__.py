"""The command line: flags with hints, exit codes, progress; the scripts in the checkout's root are thin users of it."""

import importlib.util
import sys

_NEEDED = ('absl', 'ml_collections', 'numpy', 'PIL')


def _require_packages() -> None:
    """Ends the program with a sentence where this is another Python than that which ugatit was installed for."""
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        print(f'error: this Python has not what ugatit needs ({", ".join(missing)}): {sys.executable}; call the one'
              f" that it was installed for, .venv/bin/python as a rule, or install it here: {sys.executable} -m pip"
              " install -e '.[cpu]'.", file=sys.stderr)  # fmt: skip
        sys.exit(2)


_require_packages()  # before any module of this package imports one of them
