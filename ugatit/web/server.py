"""Serves the page on this machine alone: the loopback address, no request to anywhere, no picture left behind."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pathlib
import shutil
import signal
import socket
import sys
import tempfile
import threading
from typing import Any, Iterator, Optional

from ugatit.errors import UserError
from ugatit.web.settings import MEGABYTE, PageSettings

HOST = '127.0.0.1'
DEFAULT_PORT = 7860
_FOLDER, _LOCK = 'ugatit-page-', 'lock'
_QUIET = {
    'GRADIO_ANALYTICS_ENABLED': 'False',
    'HF_HUB_DISABLE_TELEMETRY': '1',
    'HF_HUB_OFFLINE': '1',
    'GRADIO_RUN_HISTORY': 'False',
}


def require_gradio() -> None:
    """UserError with what to install where Gradio is missing."""
    if sys.version_info < (3, 10):
        python = '.'.join(map(str, sys.version_info[:2]))
        raise UserError(f'The page needs Gradio and with it Python 3.10 or newer, but this is Python {python}; make an'
                        " environment with a newer one there: pip install -e '.[cpu,web]'.")  # fmt: skip
    if importlib.util.find_spec('gradio') is None:
        raise UserError(
            "The page needs Gradio, but it is not installed in this Python environment; pip install -e '.[web]'."
        )


@contextlib.contextmanager
def private_folder() -> Iterator[pathlib.Path]:
    """Where uploads, results and the stressed twin lie while the page is up; deleted at the end.

    What an earlier page left that was killed is deleted as well. Enter before Gradio is imported: it reads its settings
    from the environment.
    """
    os.environ.update(_QUIET)
    _spare_loopback_the_proxy()
    _sweep(pathlib.Path(tempfile.gettempdir()))
    folder = pathlib.Path(tempfile.mkdtemp(prefix=_FOLDER))  # readable by this user only
    lock = _locked(folder / 'locking')
    if lock is not None:  # under its name only now, so that no other page takes it for one that is left
        (folder / 'locking').rename(folder / _LOCK)
    os.environ['GRADIO_TEMP_DIR'] = str(folder / 'pictures')
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def free_port(port: int) -> int:
    """The port, or for 0 one that is free. UserError where another program has it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
            return probe.getsockname()[1]
        except PermissionError:
            raise UserError(f'--port={port} is one that only an administrator may use; choose one from 1024 on.'
                            ) from None  # fmt: skip
        except OSError:
            other = port + 1 if port < 65535 else port - 1
            raise UserError(f'Port {port} is in use, perhaps by this page already (http://{HOST}:{port}); choose'
                            f' another with --port={other}, or any free one with --port=0.') from None  # fmt: skip


def start(page: Any, settings: PageSettings, port: int, share: bool = False, folder: Optional[str] = None) -> str:
    """Launches in threads of its own and returns the address.

    Args:
        page: from `ugatit.web.page.build`.
        folder: whose pictures may be shown as examples.
    """
    from ugatit.web.guard import middleware
    from ugatit.web.page import launch_options

    _, address, _ = page.launch(
        server_name=HOST, server_port=port, share=share, prevent_thread_lock=True, quiet=True, inbrowser=False,
        max_file_size=settings.max_megabytes * MEGABYTE, allowed_paths=[folder] if folder else [], show_error=False,
        app_kwargs={'middleware': middleware(share), 'docs_url': None, 'redoc_url': None, 'openapi_url': None},
        footer_links=[], run_history=False, enable_monitoring=False, ssr_mode=False, mcp_server=False, pwa=False,
        num_workers=0, root_path='', state_session_capacity=100, strict_cors=True, **launch_options(),
    )  # fmt: skip
    return address


def serve(page: Any, settings: PageSettings, port: int, share: bool = False, folder: Optional[str] = None) -> None:
    """As `start`, says where, and stays until Ctrl-C or SIGTERM."""
    ended = threading.Event()
    before = {number: signal.signal(number, lambda *_: ended.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        address = start(page, settings, port, share, folder)
        print(f'page: {address}  (Ctrl-C ends it)', flush=True)
        ended.wait()
    finally:
        page.close(verbose=False)
        for number, handler in before.items():
            signal.signal(number, handler)
    print('ended; every picture that was sent is deleted')


def _spare_loopback_the_proxy() -> None:
    """Gradio asks its own address whether it is up, which a proxy for the outside world could not reach."""
    for name in ('no_proxy', 'NO_PROXY'):
        known = [host for host in os.environ.get(name, '').split(',') if host]
        os.environ[name] = ','.join(dict.fromkeys([*known, HOST, 'localhost']))


def _locked(path: pathlib.Path) -> Optional[int]:
    """An open file that the system unlocks when this process ends, however it does; None where there are no locks."""
    try:
        import fcntl
    except ImportError:  # not a Unix
        return None
    number = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return number
    except OSError:
        os.close(number)
        return None


def _sweep(place: pathlib.Path) -> None:
    """Deletes the folders of pages that no longer run."""
    for folder in place.glob(f'{_FOLDER}*'):
        with contextlib.suppress(OSError):
            if (folder / _LOCK).is_file() and not folder.is_symlink():
                number = _locked(folder / _LOCK)
                if number is not None:
                    shutil.rmtree(folder, ignore_errors=True)
                    os.close(number)
