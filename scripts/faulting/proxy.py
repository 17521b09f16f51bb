"""A TCP proxy on loopback that can stall, cut connections in the middle of a message, refuse them, and come back."""

from __future__ import annotations

import contextlib
import selectors
import socket
import struct
import threading
from dataclasses import dataclass, field

from faulting.server import free_port

CHUNK = 1 << 16


@dataclass
class Side:
    """One end of a connection: what is still to be sent to it, and who is at the other."""

    sock: socket.socket
    other: Side | None = None
    waiting: bytearray = field(default_factory=bytearray)


class Proxy:
    """Forwards `port` to the target, from a thread, in one of the modes pass, stall and refuse."""

    def __init__(self, target: int) -> None:
        self.target, self.port, self.mode = target, free_port(), "pass"
        self.cuts = 0  # connections that are cut at the next message from the server
        self.stop = threading.Event()
        self.listener: socket.socket | None = None
        self.sides: dict[socket.socket, Side] = {}
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Proxy:
        self.listener = self._listen()
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.thread.join(10)
        for s in [*self.sides, *([self.listener] if self.listener else [])]:
            s.close()

    def cut(self) -> None:
        """Every connection ends at its next message from the server, of which a part arrives."""
        self.cuts = len(self.sides)

    def _listen(self) -> socket.socket:
        s = socket.create_server(("127.0.0.1", self.port), reuse_port=False)
        s.setblocking(False)
        return s

    def _run(self) -> None:
        while not self.stop.is_set():
            if self.mode == "stall":
                self.stop.wait(0.02)
                continue
            if self.mode == "refuse":
                if self.listener is not None:
                    self.listener.close()
                    self.listener = None
                for s in list(self.sides.values()):
                    self._close(s)
                self.stop.wait(0.02)
                continue
            if self.listener is None:
                with contextlib.suppress(OSError):
                    self.listener = self._listen()
                continue
            self._forward(self.listener)

    def _forward(self, listener: socket.socket) -> None:
        """One round: what is ready is read, and what can be is sent."""
        with selectors.DefaultSelector() as ready:
            ready.register(listener, selectors.EVENT_READ)
            for s in self.sides.values():
                events = (selectors.EVENT_WRITE if s.waiting else 0) | (
                    selectors.EVENT_READ if s.other is not None and len(s.other.waiting) < 16 * CHUNK else 0
                )
                if events:
                    ready.register(s.sock, events)
            for key, events in ready.select(0.02):
                if key.fileobj is listener:
                    self._accept(listener)
                elif isinstance(key.fileobj, socket.socket) and (side := self.sides.get(key.fileobj)) is not None:
                    self._serve(side, events)

    def _accept(self, listener: socket.socket) -> None:
        near, _ = listener.accept()
        try:
            far = socket.create_connection(("127.0.0.1", self.target), timeout=5)
        except OSError:
            near.close()
            return
        a, b = Side(near), Side(far)
        a.other, b.other = b, a
        for s in (a, b):
            s.sock.setblocking(False)
            s.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sides[s.sock] = s

    def _serve(self, s: Side, events: int) -> None:
        try:
            if events & selectors.EVENT_WRITE and s.waiting:
                del s.waiting[: s.sock.send(s.waiting)]
            if events & selectors.EVENT_READ and s.other is not None:
                got = s.sock.recv(CHUNK)
                if not got:
                    self._close(s)
                    return
                from_server = s.sock.getpeername()[1] == self.target
                if self.cuts > 0 and from_server and len(got) > 1:
                    self.cuts -= 2
                    s.other.sock.send(got[: len(got) // 2])
                    self._close(s, reset=self.cuts % 4 == 0)
                    return
                s.other.waiting += got
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self._close(s)

    def _close(self, s: Side, reset: bool = False) -> None:
        for x in (s, s.other):
            if x is None:
                continue
            if reset:
                with contextlib.suppress(OSError):
                    x.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            elif x.waiting:
                with contextlib.suppress(OSError):
                    x.sock.send(x.waiting)
            self.sides.pop(x.sock, None)
            x.sock.close()
