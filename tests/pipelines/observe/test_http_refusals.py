"""What the HTTP server refuses, and that it says no more than that."""

from __future__ import annotations

import socket

import pytest

from compiler.errors import TidemarkError
from pipelines.observe import http
from pipelines.observe.state import RunState
from tests.pipelines.observe.test_http import ask, clock, server, state

__all__ = ["clock", "server", "state"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get", "send_error"])
def test_other_methods_are_refused(server: http.Server, method: str) -> None:
    status, body, headers = ask(server, "/metrics", method)
    assert (status, body, headers["Allow"]) == (405, "Method Not Allowed\n", "GET, HEAD")


@pytest.mark.parametrize("path", ["/", "/metrics/", "/Metrics", "/../metrics", "/healthz/x", "/<script>"])
def test_other_paths_are_not_there(server: http.Server, path: str) -> None:
    assert ask(server, path)[:2] == (404, "Not Found\n")


def test_a_query_is_passed_over(server: http.Server) -> None:
    assert ask(server, "/healthz?x=1")[0] == 200


def raw(server: http.Server, data: bytes) -> bytes:
    out = b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as c:
        c.sendall(data)
        while got := c.recv(65536):
            out += got
    return out


@pytest.mark.parametrize(
    "data",
    [
        b"GET /" + b"x" * 100_000 + b" HTTP/1.0\r\n\r\n",
        b"GET /metrics HTTP/1.0\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
        b"GET /metrics HTTP/1.0\r\n" + b"X: x\r\n" * 2000 + b"\r\n",
    ],
)
def test_requests_are_small(server: http.Server, data: bytes) -> None:
    assert raw(server, data).split(b"\r\n")[0] == b"HTTP/1.0 431 Request Header Fields Too Large"
    assert ask(server, "/healthz")[0] == 200


def test_nonsense_is_not_repeated(server: http.Server) -> None:
    answer = raw(server, b"<script> hunter2 / nonsense\r\n\r\n")
    assert answer.startswith(b"HTTP/1.0 400 Bad Request") and b"hunter2" not in answer and b"Python" not in answer


def test_a_body_is_not_waited_for(server: http.Server) -> None:
    answer = raw(server, b"POST /metrics HTTP/1.0\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 100_000)
    assert answer.startswith(b"HTTP/1.0 405")


def test_an_error_is_told_without_a_traceback(
    server: http.Server,
    state: RunState,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken() -> None:
        raise RuntimeError("hunter2")

    monkeypatch.setattr(state, "snapshot", broken)
    for path in ("/metrics", "/healthz", "/readyz"):
        assert ask(server, path)[:2] == (500, "Internal Server Error\n")
    told = "".join(capfd.readouterr()) + caplog.text
    assert "RuntimeError" in told and "hunter2" not in told and "Traceback" not in told


def test_clients_that_say_nothing_do_not_take_all_of_it(server: http.Server) -> None:
    silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(http.AT_ONCE)]
    try:
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as one_more:
            assert one_more.recv(1) == b""
    finally:
        for c in silent:
            c.close()


def test_clients_that_say_nothing_are_let_go(state: RunState, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http._Handler, "timeout", 0.05)
    s = http.start(state, "127.0.0.1:0")
    try:
        assert raw(s, b"GET /metr") == b""
    finally:
        s.stop()


def test_a_port_that_is_taken(server: http.Server, state: RunState) -> None:
    with pytest.raises(TidemarkError, match="cannot listen on") as e:
        http.start(state, f"127.0.0.1:{server.port}")
    assert (e.value.code, e.value.exit_code) == ("metrics_address", 2) and "in use" in e.value.detail


def test_it_stops(state: RunState) -> None:
    s = http.start(state, "127.0.0.1:0")
    s.stop()
    s.stop()
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", s.port), timeout=1).close()
