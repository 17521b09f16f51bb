"""Talks to the pipeline that has the warehouse open: JSON requests over loopback, results as Arrow."""

from __future__ import annotations

import json
import socket
import struct
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa

from compiler.errors import TidemarkError
from pipelines.asking.states import StateStatus
from pipelines.pacing.finishing import Behind

FILE = "run.json"
HELLO = 20.0  # seconds in which a pipeline says that it is there
ASKED, SMALL = 16 << 20, 64 << 10  # bytes of a request; of one by somebody who has not shown the token
ANSWER = 1 << 40  # bytes of an answer: a result may be as large as a view


class TooLarge(Exception):
    """A message that says it is larger than any of ours."""


def send(sock: socket.socket, head: dict[str, Any], body: bytes = b"") -> None:
    data = json.dumps(head).encode()
    sock.sendall(struct.pack("!QQ", len(data), len(body)) + data + body)


def receive(sock: socket.socket, small: bool = False, answer: bool = False) -> tuple[dict[str, Any], bytes]:
    """One message; raises ConnectionError when the other side is gone, TooLarge before anything is kept of one too
    large."""
    n, m = struct.unpack("!QQ", _exactly(sock, 16))
    if n > (SMALL if small else ASKED) or m > (ANSWER if answer else 0):
        raise TooLarge
    head = json.loads(_exactly(sock, n))
    if not isinstance(head, dict):
        raise ValueError("not a request")
    return head, _exactly(sock, m)


def _exactly(sock: socket.socket, n: int) -> bytes:
    out = bytearray()
    while len(out) < n:
        part = sock.recv(min(1 << 20, n - len(out)))
        if not part:
            raise ConnectionError("the pipeline closed the connection")
        out += part
    return bytes(out)


class RemoteReader:
    """Reads through a running pipeline. Of the last query, `filled`: keys of partial views that it had to wait for;
    `agree`: from which LSN on all its keys do, where that is not yet."""

    def __init__(self, sock: socket.socket, token: str) -> None:
        self.sock, self.token = sock, token
        self.filled = self.agree = 0

    def __enter__(self) -> RemoteReader:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self.sock.close()

    def ask(self, op: str, **args: Any) -> tuple[dict[str, Any], bytes]:
        send(self.sock, {"op": op, "token": self.token, **args})
        head, body = receive(self.sock, answer=True)
        if "error" in head:
            e = head["error"]
            err = TidemarkError(e["message"], detail=e["detail"], hint=e["hint"], code=e["code"])
            err.exit_code, err.view = e["exit_code"], e.get("view", "")
            raise err
        return head, body

    def export(self, view: str, path: Path, fmt: str, every_key: bool = False) -> None:
        self.ask("export", view=view, path=str(path.resolve()), format=fmt, every_key=every_key)

    def threads(self, view: str) -> int:
        return 1

    def query(self, sql: str, internal: bool = False, every_key: bool = False, finished: bool = False) -> pa.Table:
        """`finished`: views that may lag are brought to the frontier first."""
        head, body = self.ask("query", sql=sql, internal=internal, every_key=every_key, finished=finished)
        self.filled, self.agree = int(head.get("filled", 0)), int(head.get("agree", 0))
        return pa.ipc.open_stream(body).read_all()

    def rows(self) -> dict[str, int | None]:
        return dict(self.ask("rows")[0]["rows"])

    def state(self) -> dict[str, Any]:
        """What the pipeline knows of itself (`observe.state`)."""
        return dict(self.ask("state")[0]["state"])

    def sizes(self, view: str) -> dict[str, tuple[int, int]]:
        return {k: (v[0], v[1]) for k, v in self.ask("sizes", view=view)[0]["sizes"].items()}

    def behind(self) -> dict[str, Behind]:
        return {v: Behind(**b) for v, b in self.ask("behind")[0]["behind"].items()}

    def states(self) -> list[StateStatus]:
        return [StateStatus(**{**s, "views": tuple(s["views"])}) for s in self.ask("states")[0]["states"]]

    def mirrors(self) -> dict[str, dict[str, int | None]]:
        return dict(self.ask("states")[0].get("mirrors", {}))

    def paces(self, view: str) -> dict[str, Any]:
        return dict(self.ask("paces", view=view)[0]["paces"])

    def frontiers(self) -> dict[str, int]:
        return dict(self.ask("frontiers")[0]["frontiers"])

    def fresh_at(self) -> dict[str, float]:
        return dict(self.ask("fresh_at")[0]["fresh_at"])

    def wait(self, lsn: int) -> None:
        self.ask("wait", lsn=lsn)

    def waits_for(self) -> str:
        """What a verify or a deploy will wait for, where that is anything, for people; a pipeline of an older version
        does not say."""
        try:
            busy = self.ask("busy")[0]["busy"]
        except TidemarkError as e:
            if e.code != "unknown_request":
                raise
            return ""
        return f"the pipeline is {busy}: waiting until that is done" if busy else ""

    def verify(self, views: list[str], repair: bool) -> list[dict[str, Any]]:
        return list(self.ask("verify", views=views, repair=repair)[0]["results"])

    def advise(self) -> list[dict[str, str]]:
        """What other strategies would save (`advising.Advice`)."""
        return list(self.ask("advise")[0]["advice"])

    def deploy(self, keep_going: bool) -> dict[str, Any]:
        """Bring the pipeline in line with views/: what became of each view, and warnings."""
        return dict(self.ask("deploy", keep_going=keep_going)[0]["deployed"])


def connect_running(path: Path) -> RemoteReader | None:
    """A connection to the pipeline that runs the warehouse, None when there is none. Raises TidemarkError for one that
    takes connections and does not answer."""
    try:
        data = json.loads((path / FILE).read_text())
        sock = socket.create_connection(("127.0.0.1", data["port"]), timeout=5)
    except (FileNotFoundError, ConnectionError, OSError, ValueError):
        return None
    sock.settimeout(HELLO)
    reader = RemoteReader(sock, data["token"])
    try:
        # it waits for strangers no longer than some seconds, and what is asked first may take longer
        reader.ask("hello")
    except TimeoutError as e:
        sock.close()
        error = TidemarkError(
            f"the pipeline does not answer (process {data.get('pid', 'unknown')})",
            code="no_answer",
            detail=f"It took the connection, and said nothing for {HELLO:.0f} s.",
            hint="Is it suspended, or the machine out of memory? End it, and start: tidemark run",
        )
        error.exit_code = 3
        raise error from e
    except TidemarkError:
        pass  # an older one has no word for it, and another's says so again
    except (OSError, ValueError, TooLarge, struct.error):  # it has just gone, or is none of ours
        sock.close()
        return None
    sock.settimeout(None)
    return reader
