"""/metrics, /healthz and /readyz over HTTP: GET and HEAD only, small requests, nothing of an error but its name."""

from __future__ import annotations

import json
import logging
import socket
import threading
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from io import BufferedIOBase
from socketserver import TCPServer, ThreadingMixIn
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from compiler.errors import TidemarkError
from pipelines.observe.address import parse_address
from pipelines.observe.health import HealthLimits, Reason, unhealthy, unready
from pipelines.observe.metrics import registry
from pipelines.observe.state import RunState

log = logging.getLogger("tidemark")
REQUEST_BYTES = 8192
REQUEST_SECONDS = 10.0
METHODS = ("GET", "HEAD")
AT_ONCE = 16  # connections; one more is closed
Answer = tuple[HTTPStatus, str, bytes]


class Server:
    """Answers on threads of its own until `stop`."""

    def __init__(self, listener: _Listener) -> None:
        self._listener = listener
        self.port: int = listener.server_address[1]
        self._thread = threading.Thread(target=listener.serve_forever, args=(0.1,), daemon=True, name="metrics")
        self._thread.start()

    def stop(self) -> None:
        self._listener.shutdown()
        self._listener.server_close()
        self._thread.join()


def start(state: RunState, address: str, limits: HealthLimits | None = None) -> Server:
    """Listen on host:port (port 0: one of the system's choice); raises TidemarkError where that cannot be."""
    try:
        return Server(_Listener(parse_address(address), state, limits or HealthLimits()))
    except (OSError, ValueError) as e:
        what = e.strerror if isinstance(e, OSError) and e.strerror else str(e)
        error = TidemarkError(
            f"cannot listen on {address}",
            detail=what,
            code="metrics_address",
            hint='Give [metrics] listen another host:port, or "" for none.',
        )
        error.exit_code = 2
        raise error from e


class _Listener(ThreadingMixIn, TCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 2 * AT_ONCE

    def __init__(self, address: tuple[str, int], state: RunState, limits: HealthLimits) -> None:
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        self.state, self.limits, self.registry = state, limits, registry(state)
        self.free = threading.BoundedSemaphore(AT_ONCE)
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self.free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away, mostly; the base class would print a traceback."""
        log.debug("a request for metrics ended early")


class _Bounded:
    """A request's lines, as a file; ends after REQUEST_BYTES, and remembers that it did."""

    def __init__(self, file: BufferedIOBase) -> None:
        self._file, self._left, self.exceeded = file, REQUEST_BYTES, False

    def readline(self, limit: int = -1) -> bytes:
        line = self._file.readline(self._left + 1)
        self._left -= len(line)
        if self._left < 0:
            self._left, self.exceeded = 0, True
            return b""
        return line

    def close(self) -> None:
        self._file.close()


class _Handler(BaseHTTPRequestHandler):
    server: _Listener
    timeout = REQUEST_SECONDS
    command = requestline = ""
    request_version = default_request_version = "HTTP/1.0"

    def setup(self) -> None:
        super().setup()
        self.request_lines = _Bounded(self.rfile)
        self.rfile = self.request_lines  # type: ignore[assignment]

    def handle(self) -> None:
        super().handle()
        if self.request_lines.exceeded:
            self.send_error(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        if self.command not in METHODS or self.request_lines.exceeded:
            self._drain()

    def _drain(self) -> None:
        """Take what else was sent, within bounds: closed with bytes unread, the client might not get the answer."""
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(1.0)
            for _ in range(16):
                if not self.connection.recv(65536):
                    return

    def parse_request(self) -> bool:
        """Whether to go on, as the base class has it; a request that is too long is answered by `handle`."""
        if not super().parse_request() or self.request_lines.exceeded:
            return False
        if self.command not in METHODS:
            self.send_error(HTTPStatus.METHOD_NOT_ALLOWED)
            return False
        return True

    def do_GET(self) -> None:
        try:
            answer = self._answer(self.path.partition("?")[0])
        except Exception as e:
            log.warning("a request for metrics cannot be answered (%s)", type(e).__name__)
            answer = _plain(HTTPStatus.INTERNAL_SERVER_ERROR)
        self._send(*answer)

    do_HEAD = do_GET

    def _answer(self, path: str) -> Answer:
        state, limits = self.server.state, self.server.limits
        if path == "/metrics":
            return _metrics(self.server.registry, self.headers.get("Accept", ""))
        if path == "/healthz":
            return _reasons("healthy", unhealthy(state.snapshot(), limits))
        if path == "/readyz":
            return _reasons("ready", unready(state.snapshot(), limits))
        return _plain(HTTPStatus.NOT_FOUND)

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", ", ".join(METHODS))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """The status alone: the base class would repeat the request."""
        self._send(*_plain(HTTPStatus(code)))

    def version_string(self) -> str:
        return "tidemark"

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not logged."""


def _plain(status: HTTPStatus) -> Answer:
    return status, "text/plain; charset=utf-8", f"{status.phrase}\n".encode()


def _metrics(r: CollectorRegistry, accept: str) -> Answer:
    encode, kind = choose_encoder(accept)
    return HTTPStatus.OK, kind, encode(r)


def _reasons(name: str, found: list[Reason]) -> Answer:
    status = HTTPStatus.SERVICE_UNAVAILABLE if found else HTTPStatus.OK
    return status, "application/json", json.dumps({name: not found, "reasons": found}).encode() + b"\n"
