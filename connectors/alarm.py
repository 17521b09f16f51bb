"""Wakes a thread that waits on sockets."""

from __future__ import annotations

import socket
from contextlib import suppress


class Alarm:
    """`ring` from any thread; who waits selects on it together with what else it waits for."""

    def __init__(self) -> None:
        self.ear, self.bell = socket.socketpair()
        self.ear.setblocking(False)
        self.bell.setblocking(False)

    def fileno(self) -> int:
        return self.ear.fileno()

    def ring(self) -> None:
        with suppress(OSError):  # it rings already, or nobody listens any more
            self.bell.send(b"!")

    def rang(self) -> bool:
        """Whether it rang since it was asked last."""
        try:
            return bool(self.ear.recv(1024))
        except OSError:
            return False

    def close(self) -> None:
        self.ear.close()
        self.bell.close()
