"""A Postgres 18, and a standby of it that takes over: real ones, of Maven's binaries (`scripts/fetch-postgres`)."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from pipelines.showing.embedded import EmbeddedPostgres
from tests.ports import free_port

BINARIES = Path.home() / ".cache" / "tidemark" / "postgres"
OWNER = "postgres"  # who runs servers where we are root


def binaries() -> Path | None:
    """The folder of `scripts/fetch-postgres`; None where there is none."""
    return max(BINARIES.glob("*/bin"), default=None)


class Pair:
    """`dsn` names both servers, and reaches the one that takes writes."""

    def __init__(self, found: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tidemark-pair-"))
        shutil.copytree(found.parent, self.folder / "postgres")  # a home may not be open to who runs servers
        self.user = OWNER if os.geteuid() == 0 else None
        if self.user:
            subprocess.run(["chown", "-R", self.user, str(self.folder)], check=True)
        self.bin = self.folder / "postgres" / "bin"
        self.primary = EmbeddedPostgres(self.bin)
        self.standby: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        first = psycopg.conninfo.conninfo_to_dict(self.primary.dsn)["port"]
        both = f"host=127.0.0.1,127.0.0.1 port={first},{self.port} user=postgres dbname=postgres"
        self.dsn = f"{both} target_session_attrs=read-write connect_timeout=3"
        self.own = f"host=127.0.0.1 port={self.port} user=postgres dbname=postgres"  # of the standby

    def follow(self) -> None:
        """Make the standby, which the primary's failover slots are copied to, and wait until it answers."""
        data = self.folder / "standby"
        with psycopg.connect(self.primary.dsn, autocommit=True) as c:
            c.execute("SELECT pg_create_physical_replication_slot('standby')")
            c.execute("ALTER SYSTEM SET synchronized_standby_slots = 'standby'")
            c.execute("SELECT pg_reload_conf()")
            c.execute("SELECT pg_backup_start('standby', fast => true)")
            shutil.copytree(self.primary.folder / "data", data, ignore=shutil.ignore_patterns("postmaster.*"))
            stopped = c.execute("SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)").fetchone()
            assert stopped is not None
            shutil.copytree(self.primary.folder / "data" / "pg_wal", data / "pg_wal", dirs_exist_ok=True)
        (data / "backup_label").write_text(str(stopped[0]))
        (data / "standby.signal").touch()
        shutil.rmtree(data / "pg_replslot")
        (data / "pg_replslot").mkdir()
        settings = {
            "primary_conninfo": self.primary.dsn,
            "primary_slot_name": "standby",
            "sync_replication_slots": "on",
            "hot_standby_feedback": "on",
            "wal_level": "logical",
            "max_connections": "200",
            "max_wal_senders": "50",
            "max_replication_slots": "50",
            "max_prepared_transactions": "10",
            "listen_addresses": "127.0.0.1",
            "timezone": "UTC",
            "synchronized_standby_slots": "",  # which are on the primary
        }
        with (data / "postgresql.auto.conf").open("a") as f:
            f.writelines(f"{k} = '{v}'\n" for k, v in settings.items())
        if self.user:
            subprocess.run(["chown", "-R", self.user, str(data)], check=True)
        data.chmod(0o700)
        with (self.folder / "standby.log").open("wb") as log:
            self.standby = subprocess.Popen(
                [str(self.bin / "postgres"), "-D", str(data), "-p", str(self.port), "-k", str(self.folder)],
                user=self.user,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        self.until("SELECT true")

    def until(self, true: str, seconds: float = 60.0) -> None:
        """Ask the standby until what it is asked is true; fails with its log at the deadline."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                with psycopg.connect(self.own, autocommit=True) as c:
                    row = c.execute(true.encode()).fetchone()
                if row is not None and row[0]:
                    return
            except psycopg.OperationalError:
                pass
            assert time.monotonic() < deadline, f"{true}: {(self.folder / 'standby.log').read_text()[-1500:]}"
            time.sleep(0.1)

    def take_over(self) -> None:
        """The primary dies; the standby takes writes."""
        assert self.primary.process is not None
        self.primary.process.send_signal(signal.SIGQUIT)
        self.primary.process.wait(30)
        self.primary.process = None
        with psycopg.connect(self.own, autocommit=True) as c:
            c.execute("SELECT pg_promote(true, 60)")

    def stop(self) -> None:
        if self.standby is not None:
            self.standby.send_signal(signal.SIGINT)
            self.standby.wait(30)
        self.primary.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def pair(found: Path) -> Iterator[Pair]:
    p = Pair(found)
    try:
        yield p
    finally:
        p.stop()
