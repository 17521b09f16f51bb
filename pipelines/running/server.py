"""What a running pipeline answers, each request on a thread of its own; what has to see the engines at rest goes to
the loop."""

from __future__ import annotations

import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from compiler.errors import TidemarkError
from compiler.ir.scalar import Col
from connectors.postgres.connection import SourceUnreachable
from pipelines.applying.capture import Capture
from pipelines.applying.upquery import fill
from pipelines.asking.advising import advise, to_json
from pipelines.asking.client import FILE, TooLarge, receive, send
from pipelines.asking.eviction import Eviction
from pipelines.asking.query import Asker
from pipelines.asking.read_only import checked
from pipelines.asking.reading import LocalReader
from pipelines.asking.reads import Reads
from pipelines.asking.uses import Uses
from pipelines.config import Config, load_config
from pipelines.deploying.deploy import compiled
from pipelines.observe.observer import Observer
from pipelines.pacing.finishing import paced
from pipelines.pacing.turns import Pacing
from pipelines.running.ahead import Ahead
from pipelines.running.current import Current
from pipelines.running.jobs import Jobs
from pipelines.warehouse import Warehouse

GREETING = 10.0  # seconds in which a stranger has to show the token
CONNECTIONS = 64
LEAVING = 10.0  # seconds that answers which are being made have, once the pipeline stops
READS = ("query", "export", "sizes", "rows", "behind", "paces", "states")
AWAY = 10.0  # seconds that who waits for an LSN bears with a source that is away


class Server:
    """Listens on loopback; its port and a token are in the warehouse's run.json, readable by its owner only.

    `deploy`, on the loop's thread, brings what runs in line with views/, and tells what became of it; `check` raises
    where it would not.
    """

    def __init__(
        self,
        config: Config,
        warehouse: Warehouse,
        capture: Capture,
        observer: Observer,
        deploy: Callable[[bool], dict[str, Any]],
        check: Callable[[], object],
    ) -> None:
        self.config, self.observer, self.deploy, self.check = config, observer, deploy, check
        self.uses, self.reads, self.alone = Uses(), Reads(), threading.Lock()
        self.busy = ""  # what has `alone`
        self.current = Current(LocalReader(warehouse, Asker(self._fill, self.uses)))
        self._take(warehouse, capture)
        self.token = secrets.token_hex(16)
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.jobs = Jobs()
        self.ahead = Ahead(self.jobs.ask)
        self.waiters: dict[int, int] = {}  # who waits → for which LSN
        self.places = threading.BoundedSemaphore(CONNECTIONS)
        self.guests: dict[threading.Thread, socket.socket] = {}
        self.arriving = threading.Lock()
        self.stopping = False
        self.path: Path = config.warehouse_path / FILE

    def take(self, warehouse: Warehouse, capture: Capture) -> None:
        """Answer from these from now on; the former warehouse is closed when nobody reads it any more."""
        self.current.become(LocalReader(warehouse, Asker(self._fill, self.uses)))
        self._take(warehouse, capture)

    def _take(self, warehouse: Warehouse, capture: Capture) -> None:
        self.warehouse, self.capture = warehouse, capture
        self.eviction = Eviction(warehouse, self.uses, capture.rest)
        self.pacing = Pacing(warehouse, capture.rest)

    def start(self) -> None:
        fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(fd, "w") as f:
            json.dump({"port": self.sock.getsockname()[1], "token": self.token, "pid": os.getpid()}, f)
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self) -> None:
        self.stopping = True
        self.path.unlink(missing_ok=True)
        self.sock.close()
        self.ahead.stop()
        self.jobs.refuse(TidemarkError("the pipeline stopped", code="stopped", hint="Try again."), ever=True)
        self._see_off()

    def _see_off(self) -> None:
        """Let answers that are being made be sent. A thread that is still in an engine when the interpreter ends takes
        the process down with an error."""
        until = time.monotonic() + LEAVING
        with self.arriving:
            guests = list(self.guests.items())
        for thread, conn in guests:
            with suppress(OSError):
                conn.shutdown(socket.SHUT_RD)  # nothing more is asked
            thread.join(max(until - time.monotonic(), 0.0))

    def _fill(self, view: str, keys: pa.Table) -> int:
        """Keys of a partial view, on the loop's thread: who asks for the same ones meanwhile finds them there."""

        def rested() -> int:
            self.capture.rest(self.warehouse.view(view)[0].engine)
            return fill(self.warehouse, view, keys, self.capture.recent)

        self.capture.stream.wake()
        return self.jobs.ask(rested)

    @property
    def wanted(self) -> int:
        """The nearest LSN that somebody waits for."""
        return min(list(self.waiters.values()), default=0)

    def away(self) -> SourceUnreachable:
        source = self.observer.state.snapshot()["source"]
        return SourceUnreachable(
            "the source is away",
            code="source_unreachable",
            detail=str(source.get("reason", "")),
            hint="The pipeline goes on trying; the views are as of when it went.",
        )

    def _accept(self) -> None:
        while not self.stopping:
            try:
                conn, _ = self.sock.accept()
            except OSError:
                return
            if not self.places.acquire(blocking=False):
                conn.close()
                continue
            guest = threading.Thread(target=self._serve, args=(conn,), daemon=True)
            with self.arriving:  # only who has begun can be waited for
                self.guests[guest] = conn
                guest.start()

    def _serve(self, conn: socket.socket) -> None:
        greeted = False
        conn.settimeout(GREETING)
        try:
            with conn:
                while True:
                    head, _ = receive(conn, small=not greeted)
                    answer, body = self._safely(head)
                    if not greeted and "error" not in answer:
                        greeted = True
                        conn.settimeout(None)
                    send(conn, answer, body)
                    if answer.get("views"):
                        self._note(head["sql"], answer["views"])
        except (OSError, ValueError, TooLarge):  # gone, too slow, or none of ours
            return
        finally:
            self.guests.pop(threading.current_thread(), None)
            self.places.release()

    def _note(self, sql: str, read: list[str]) -> None:
        """How views are asked, once who asked has the answer. Partial ones count keys of their own."""
        with suppress(TidemarkError, duckdb.Error), self.current.use() as reader:
            warehouse = reader.warehouse

            def columns() -> dict[str, list[Col]]:
                names = [v.name for v in warehouse.deployment.views]
                return {n: [Col(c, x.type) for c, x in warehouse.view(n)[1].outputs] for n in names}

            whole = [n for n in read if warehouse.view(n)[1].asked is None]
            self.reads.note(sql, whole, columns)

    def _safely(self, head: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        try:
            if not secrets.compare_digest(str(head.pop("token", "")), self.token):
                raise TidemarkError("wrong token", code="denied")
            return self._answer(head.pop("op"), head)
        except TidemarkError as e:
            return {
                "error": {
                    "message": e.message,
                    "detail": e.detail,
                    "hint": e.hint,
                    "code": e.code,
                    "exit_code": e.exit_code,
                    "view": e.view,
                }
            }, b""
        except Exception as e:
            if self.stopping:
                return {
                    "error": {
                        "message": "the pipeline stopped",
                        "detail": "",
                        "hint": "Try again.",
                        "code": "stopped",
                        "exit_code": 1,
                    }
                }, b""
            return {
                "error": {
                    "message": f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}",
                    "detail": "",
                    "hint": "",
                    "code": "error",
                    "exit_code": 1,
                }
            }, b""

    def _answer(self, op: str, args: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        if op == "query" and args.get("finished"):
            self._finish(args["sql"], bool(args.get("internal")))
        if op in READS:
            with self.current.use() as reader:
                return self._read(reader, op, args)
        if op == "advise":
            with self.current.use() as reader:
                return {"advice": to_json(advise(reader.warehouse, self.observer.works, self.reads))}, b""
        if op == "hello":
            return {}, b""
        if op == "busy":
            return {"busy": self.busy}, b""
        if op == "state":
            return {"state": self.observer.state.snapshot()}, b""
        if op == "frontiers":
            return {"frontiers": dict(self.capture.frontiers)}, b""
        if op == "fresh_at":
            return {"fresh_at": dict(self.capture.fresh_at)}, b""
        if op == "wait":
            self._wait(int(args["lsn"]))
            return {}, b""
        if op == "verify":
            from pipelines.verifying.verify import Loop, verify_with

            with self._alone("comparing views with the source"):
                results = verify_with(
                    self.config,
                    self.warehouse,
                    self.capture,
                    args["views"],
                    args["repair"],
                    Loop(self.jobs.ask, self.pacing.finish),
                )
            return {"results": [r.to_json() for r in results]}, b""
        if op == "deploy":
            with self._alone("deploying"):
                self.capture.stream.wake()
                self.check()
                self.ahead.fill(self.warehouse, self.capture.rest, lambda: compiled(load_config(self.config.home))[1])
                self.capture.stream.wake()
                return {"deployed": self.jobs.ask(lambda: self.deploy(args["keep_going"]))}, b""
        raise TidemarkError(f"unknown request {op}", code="unknown_request")

    @contextmanager
    def _alone(self, busy: str) -> Iterator[None]:
        with self.alone:
            self.busy = busy
            try:
                yield
            finally:
                self.busy = ""

    def _finish(self, sql: str, internal: bool) -> None:
        """Bring the paced views that a query reads to the frontier."""
        d = self.warehouse.deployment
        if some := paced(self.warehouse, checked(sql, {v.name for v in d.views}, internal)):
            self.capture.stream.wake()
            self.jobs.ask(lambda: self.pacing.finish(some))

    def _read(self, reader: LocalReader, op: str, args: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        if op == "query":
            got = reader.answer(args["sql"], bool(args.get("internal")), bool(args.get("every_key")))
            return {"filled": got.filled, "agree": got.agree, "views": list(got.views)}, _ipc(got.rows)
        if op == "export":
            reader.export(args["view"], Path(args["path"]), args["format"], bool(args.get("every_key")))
            return {}, b""
        if op == "paces":
            return {"paces": reader.paces(args["view"])}, b""
        if op == "states":
            return {"states": [asdict(s) for s in reader.states()], "mirrors": reader.mirrors()}, b""
        if op == "behind":
            return {"behind": {v: asdict(b) for v, b in reader.behind().items()}}, b""
        return ({"sizes": reader.sizes(args["view"])} if op == "sizes" else {"rows": reader.rows()}), b""

    def _wait(self, lsn: int) -> None:
        """Until every engine holds what lies below `lsn`; raises SourceUnreachable where the source is away
        meanwhile."""
        me = threading.get_ident()
        self.waiters[me] = lsn
        moved, begun = self.capture.ledger.moved, time.monotonic()
        try:
            with moved:
                while self.capture.frontier < lsn:
                    if self.stopping:
                        raise TidemarkError("the pipeline stopped", code="stopped", hint="Try again.")
                    away = self.observer.state.snapshot()["source"]["state"] == "away"
                    if (away or self._silent()) and time.monotonic() - begun > AWAY:
                        raise self.away()
                    moved.wait(0.2)
        finally:
            self.waiters.pop(me, None)

    def _silent(self) -> bool:
        """Whether the source has not said where it is for a while."""
        return time.time() - self.capture.freshness.source_at > AWAY


def _ipc(t: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, t.schema) as w:
        w.write_table(t)
    return bytes(sink.getvalue().to_pybytes())
