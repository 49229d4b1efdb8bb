"""The one exception type for a user's mistake; commands print it as a sentence and exit, never as a traceback."""

from __future__ import annotations


class UserError(ValueError):
    """Something the user gave does not fit: the message says what was expected, what arrived and what to do."""
