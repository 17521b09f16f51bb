"""A pipeline hangs up on strangers who say nothing, and on nobody else."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from compiler.errors import TidemarkError
from pipelines.asking import client
from pipelines.asking.client import FILE, RemoteReader, connect_running
from pipelines.running import server
from pipelines.running.server import Server


@pytest.fixture
def listening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a pipeline that answers, and waits for strangers a fifth of a second."""
    monkeypatch.setattr(server, "GREETING", 0.2)
    s = Server.__new__(Server)
    s.token, s.stopping, s.guests, s.places = "secret", False, {}, threading.BoundedSemaphore(4)
    s.arriving = threading.Lock()
    s.sock = socket.create_server(("127.0.0.1", 0))
    (tmp_path / FILE).write_text(json.dumps({"port": s.sock.getsockname()[1], "token": s.token}))
    accepting = threading.Thread(target=s._accept, daemon=True)
    accepting.start()
    yield tmp_path
    s.stopping = True
    with socket.create_connection(s.sock.getsockname()):  # accept returns
        accepting.join(5)
    s.sock.close()


def test_who_takes_long_before_the_first_question_is_answered(listening: Path) -> None:
    reader = connect_running(listening)
    assert reader is not None
    time.sleep(0.6)  # as deploy does, which compiles the views
    assert reader.ask("hello") == ({}, b"")
    reader.sock.close()


def test_a_stranger_is_not(listening: Path) -> None:
    port = json.loads((listening / FILE).read_text())["port"]
    with socket.create_connection(("127.0.0.1", port), timeout=5) as stranger:
        assert stranger.recv(1) == b""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as stranger, pytest.raises(Exception, match="token"):
        RemoteReader(stranger, "guessed").ask("hello")


def test_a_pipeline_that_does_not_answer_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "HELLO", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as suspended:
        (tmp_path / FILE).write_text(json.dumps({"port": suspended.getsockname()[1], "token": "", "pid": 7}))
        with pytest.raises(TidemarkError, match=r"does not answer \(process 7\)"):
            connect_running(tmp_path)


def test_where_nobody_listens_there_is_no_pipeline(tmp_path: Path) -> None:
    assert connect_running(tmp_path) is None
    with socket.create_server(("127.0.0.1", 0)) as other:
        (tmp_path / FILE).write_text(json.dumps({"port": other.getsockname()[1], "token": ""}))
        threading.Thread(target=lambda: other.accept()[0].close(), daemon=True).start()
        assert connect_running(tmp_path) is None
