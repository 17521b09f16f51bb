"""A private Postgres that can be stopped, crashed, frozen, and put back to an earlier copy of its data."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

SETTINGS = {
    "wal_level": "logical",
    "max_replication_slots": "50",
    "max_wal_senders": "50",
    "max_connections": "100",
    "fsync": "off",
    "listen_addresses": "127.0.0.1",
    "timezone": "UTC",
    "shared_buffers": "64MB",
    "max_slot_wal_keep_size": "4GB",
    "autovacuum_naptime": "20s",
    "logical_decoding_work_mem": "64kB",  # larger transactions are sent before they commit
}


STOPS = 300  # seconds in which it has stopped: it waits for its readers, and one of them for a batch on Spark


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as s:
        return int(s.getsockname()[1])


def tied() -> list[str]:
    """A prefix that ends a child when this program is killed, where the machine has it."""
    return ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []


class OwnServer:
    """Server binaries as the user postgres on a loopback port."""

    def __init__(self) -> None:
        bins = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))
        found = bins[-1] if bins else shutil.which("postgres")
        if found is None:
            raise RuntimeError("no server binaries: install Postgres")
        self.bin = Path(found).parent
        self.folder = Path(tempfile.mkdtemp(prefix="tidemark-faults-pg-"))
        self.data, self.port = self.folder / "data", free_port()
        self.user: dict[str, Any] = {}
        if os.geteuid() == 0:
            entry = pwd.getpwnam("postgres")
            os.chown(self.folder, entry.pw_uid, entry.pw_gid)
            self.user = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        self._run(
            [
                str(self.bin / "initdb"),
                "-D",
                str(self.data),
                "-A",
                "trust",
                "-U",
                "postgres",
                "-E",
                "UTF8",
                "--locale=C.UTF-8",
                "--no-sync",
            ]
        )
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def __enter__(self) -> OwnServer:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(subprocess.TimeoutExpired):
            self.stop()
        if self.process is not None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, command: list[str]) -> None:
        subprocess.run(
            command, check=True, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self.user
        )

    def dsn(self, database: str = "postgres", port: int | None = None) -> str:
        return f"host=127.0.0.1 port={port or self.port} user=postgres dbname={database}"

    def create(self, database: str) -> str:
        with psycopg.connect(self.dsn(), autocommit=True) as c:
            c.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
        return self.dsn(database)

    def drop(self, name: str) -> None:
        """With its slots; what still reads them is ended."""
        if self.process is None:
            return
        with suppress(psycopg.OperationalError), psycopg.connect(self.dsn(), autocommit=True) as c:
            for _ in range(50):
                c.execute(
                    "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE database = %s AND active",
                    (name,),
                )
                free = "SELECT slot_name FROM pg_replication_slots WHERE database = %s AND NOT active"
                for (slot,) in c.execute(free, (name,)).fetchall():
                    c.execute("SELECT pg_drop_replication_slot(%s)", (slot,))
                if not c.execute("SELECT FROM pg_replication_slots WHERE database = %s", (name,)).fetchone():
                    break
                time.sleep(0.1)
            c.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'.encode())

    def start(self) -> None:
        """Starts the server and waits until it answers; after 60 s, or where it has ended, raises OperationalError."""
        options = [x for k, v in SETTINGS.items() for x in ("-c", f"{k}={v}")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *tied(),
                    str(self.bin / "postgres"),
                    "-D",
                    str(self.data),
                    "-p",
                    str(self.port),
                    "-k",
                    str(self.folder),
                    *options,
                ],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **self.user,
            )
        deadline = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self.dsn(), connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT: fast shutdown; SIGQUIT: immediate, so that the next start is a crash recovery."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(STOPS)
            self.process = None

    def copy(self) -> Path:
        """A cold copy of the data folder."""
        self.stop()
        target = self.folder / "copy"
        shutil.rmtree(target, ignore_errors=True)
        self._run(["cp", "-a", str(self.data), str(target)])
        self.start()
        return target

    def restore(self, copy: Path) -> None:
        """The data folder as it was copied; commits made since then have never been."""
        self.stop()
        shutil.rmtree(self.data)
        self._run(["cp", "-a", str(copy), str(self.data)])
        self.start()

    def pids(self, kind: str = "") -> list[int]:
        """Processes of the server, the postmaster first; with `kind`, those whose title has it."""
        assert self.process is not None
        main = self.process.pid
        found = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(main)], capture_output=True, text=True).stdout
        children = [line.strip().split(None, 1) for line in found.splitlines()]
        return [*([main] if not kind else []), *(int(pid) for pid, title in children if kind in title)]

    @contextmanager
    def frozen(self, kind: str = "") -> Iterator[int]:
        """Stopped by SIGSTOP, and continued at the end; gives how many processes were."""
        pids = self.pids(kind)
        try:
            for p in pids:
                os.kill(p, signal.SIGSTOP)
            yield len(pids)
        finally:
            for p in pids:
                with suppress(ProcessLookupError):
                    os.kill(p, signal.SIGCONT)
