"""What stands between a browser and the page: it may load from here and nowhere else, and only this page may ask."""

from __future__ import annotations

from typing import Any, List

from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse

HOSTS = ('127.0.0.1', 'localhost')
SHARED_HOST = '*.gradio.live'  # where --share shows the page
# Gradio's own scripts need inline code and eval; what counts is that no other host is ever asked.
POLICY = '; '.join([
    "default-src 'self'",
    "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "media-src 'self' data: blob: mediastream:",
    "font-src 'self' data:",
    "connect-src 'self' data: blob:",
    "worker-src 'self' blob:",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'self'",
])  # fmt: skip
HEADERS = {
    'Content-Security-Policy': POLICY,
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
}
# Parts of Gradio that speak to other hosts or to developers; this page needs none of them.
CLOSED = ('proxy=', 'vibe-', 'undo-vibe', 'run-history', 'runs', 'dev/', 'workflow', 'process_recording', 'profiling')


class Guard:
    """ASGI middleware: our headers on every answer, 404 for what is closed."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope['type'] != 'http':
            await self._app(scope, receive, send)
        elif _is_closed(scope['path']):
            await PlainTextResponse('not here', 404)(scope, receive, send)
        else:
            await self._app(scope, receive, _with_headers(send))


def middleware(share: bool = False) -> List[Middleware]:
    """For the application's constructor; the first is the outermost."""
    hosts = [*HOSTS, *([SHARED_HOST] if share else [])]
    return [Middleware(TrustedHostMiddleware, allowed_hosts=hosts), Middleware(Guard)]


def _is_closed(path: str) -> bool:
    return any(path.startswith((f'/gradio_api/{part}', f'/{part}')) for part in CLOSED)


def _with_headers(send: Any) -> Any:
    async def sending(message: Any) -> None:
        if message['type'] == 'http.response.start':
            ours = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, 'headers': [*message.get('headers', []), *ours]}
        await send(message)

    return sending
