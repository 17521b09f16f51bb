"""What a running pipeline answers: reads at once, on their own cursors; verify and waiting between batches."""

from __future__ import annotations

import json
import os
import secrets
import socket
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa

from compiler.errors import TidemarkError
from pipelines.capture import Capture
from pipelines.client import FILE, receive, send
from pipelines.config import Config
from pipelines.reading import LocalReader
from pipelines.warehouse import Warehouse


class Job:
    """Work for the loop's own thread."""

    def __init__(self, run: Any) -> None:
        self.run, self.done = run, threading.Event()
        self.result: Any = None
        self.error: BaseException | None = None


class Server:
    """Listens on loopback; its port and a token are in the warehouse's run.json, readable by its owner only."""

    def __init__(self, config: Config, warehouse: Warehouse, capture: Capture) -> None:
        self.config, self.warehouse, self.capture = config, warehouse, capture
        self.reader = LocalReader(warehouse)
        self.token = secrets.token_hex(16)
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.jobs: list[Job] = []
        self.stopping = False
        self.path: Path = config.warehouse_path / FILE

    def start(self) -> None:
        fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(fd, "w") as f:
            json.dump({"port": self.sock.getsockname()[1], "token": self.token, "pid": os.getpid()}, f)
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self) -> None:
        self.stopping = True
        self.path.unlink(missing_ok=True)
        self.sock.close()
        for j in self.jobs:
            j.error = TidemarkError("the pipeline stopped", code="stopped", hint="Try again.")
            j.done.set()

    def between_batches(self) -> None:
        """Run what has to see the engines at rest."""
        while self.jobs:
            j = self.jobs.pop(0)
            try:
                j.result = j.run()
            except BaseException as e:
                j.error = e
            j.done.set()

    def _accept(self) -> None:
        while not self.stopping:
            try:
                conn, _ = self.sock.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(conn,), daemon=True).start()

    def _serve(self, conn: socket.socket) -> None:
        with conn:
            while True:
                try:
                    head, _ = receive(conn)
                except (ConnectionError, OSError):
                    return
                try:
                    if not secrets.compare_digest(str(head.pop("token", "")), self.token):
                        raise TidemarkError("wrong token", code="denied")
                    answer, body = self._answer(head.pop("op"), head)
                except TidemarkError as e:
                    answer, body = {"error": {"message": e.message, "detail": e.detail, "hint": e.hint, "code": e.code,
                                              "exit_code": e.exit_code}}, b""
                except Exception as e:
                    answer, body = {"error": {"message": str(e).split("\n")[0], "detail": "", "hint": "", "code": "error",
                                              "exit_code": 1}}, b""
                try:
                    send(conn, answer, body)
                except OSError:
                    return

    def _answer(self, op: str, args: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        if op == "query":
            return {}, _ipc(self.reader.query(args["sql"]))
        if op == "export":
            self.reader.export(args["view"], Path(args["path"]), args["format"])
            return {}, b""
        if op == "counts":
            return {"counts": self.reader.counts()}, b""
        if op == "sizes":
            return {"sizes": self.reader.sizes(args["view"])}, b""
        if op == "frontiers":
            return {"frontiers": dict(self.capture.frontiers)}, b""
        if op == "fresh_at":
            return {"fresh_at": dict(self.capture.fresh_at)}, b""
        if op == "wait":
            while self.capture.frontier < args["lsn"] and not self.stopping:
                self._later(lambda: self.capture.catch_up(args["lsn"]))
            return {}, b""
        if op == "verify":
            from pipelines.verify import verify_with

            results = self._later(lambda: verify_with(self.config, self.warehouse, self.capture, args["views"], args["repair"]))
            return {"results": [r.to_json() for r in results]}, b""
        raise TidemarkError(f"unknown request {op}", code="unknown_request")

    def _later(self, run: Any) -> Any:
        j = Job(run)
        self.jobs.append(j)
        j.done.wait()
        if j.error is not None:
            raise j.error
        return j.result


def _ipc(t: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, t.schema) as w:
        w.write_table(t)
    return bytes(sink.getvalue().to_pybytes())
