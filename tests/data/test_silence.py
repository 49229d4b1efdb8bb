"""Lines written to the file descriptor of stderr: held back, and replayed where nobody says what went wrong."""

from __future__ import annotations

import os

import pytest

from ugatit.data.silence import silent_stderr


def test_nothing_is_printed(capfd: pytest.CaptureFixture) -> None:
    with silent_stderr(replay=True):
        os.write(2, b'chatter')
    os.write(2, b'after')
    assert capfd.readouterr().err == 'after'


@pytest.mark.parametrize(('replay', 'printed'), [(True, 'chatter'), (False, '')])
def test_an_error(replay: bool, printed: str, capfd: pytest.CaptureFixture) -> None:
    with pytest.raises(ValueError), silent_stderr(replay):
        os.write(2, b'chatter')
        raise ValueError
    assert capfd.readouterr().err == printed
