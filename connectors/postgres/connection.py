"""Connections to the source: Postgres prints values one way only, and a server that does not answer is an error."""

from __future__ import annotations

from typing import Any, TypeVar

import psycopg
from psycopg import conninfo, errors

from compiler.errors import TidemarkError

SETTINGS = {
    "TimeZone": "UTC",
    "DateStyle": "ISO",
    "IntervalStyle": "postgres",
    "extra_float_digits": "3",
    "bytea_output": "hex",
    "client_encoding": "UTF8",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "quote_all_identifiers": "off",
    "row_security": "off",  # a table whose rows a policy hides is an error, not fewer rows than the stream has
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",  # a first copy takes its time
}
ALIVE = {  # a connection whose other end is gone breaks within half a minute; what the dsn says goes first
    "connect_timeout": "10",
    "keepalives": "1",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "25000",
}
ANSWER = 20.0  # seconds in which a server answers a short question
T = TypeVar("T")


class SourceUnreachable(TidemarkError):
    exit_code = 3


def _with_settings(dsn: str, **extra: str) -> str:
    options = " ".join(f"-c {k}={v}" for k, v in SETTINGS.items() if k != "client_encoding")
    parameters = conninfo.conninfo_to_dict(dsn)
    if parameters.get("options"):
        options = f"{parameters['options']} {options}"
    alive = {k: v for k, v in ALIVE.items() if k not in parameters}
    return conninfo.make_conninfo(
        dsn,
        options=options,
        client_encoding="UTF8",
        application_name=str(parameters.get("application_name") or "tidemark"),
        **alive,
        **extra,
    )


def describe(dsn: str) -> str:
    """The source without its password, for messages."""
    try:
        d = conninfo.conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:
        return "whose dsn cannot be read"
    return f"{d.get('user', '')}@{d.get('host', 'localhost')}:{d.get('port', 5432)}/{d.get('dbname', '')}"


def unreachable(dsn: str, detail: str, what: str = "cannot connect to the source") -> SourceUnreachable:
    return SourceUnreachable(
        f"{what} {describe(dsn)}",
        code="source_unreachable",
        detail=detail.strip().split("\n")[0],
        hint="Check [source] dsn in tidemark.toml, and that Postgres accepts the connection.",
    )


class Connection(psycopg.Connection[Any]):
    """An ordinary connection that gives up on a server after `patience` seconds without an answer.

    Raises SourceUnreachable for that, and for a connection that breaks in the middle of a statement.
    """

    dsn = ""
    patience: float | None = None

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        try:
            return super().wait(gen, interval, timeout or self.patience)
        except errors._WaitTimeout as e:
            if timeout is not None:
                raise
            self.pgconn.finish()
            raise unreachable(
                self.dsn, f"Nothing came within {self.patience:.0f} s.", "no answer from the source"
            ) from e
        except psycopg.OperationalError as e:
            if not self.broken and not self.closed:
                raise
            raise unreachable(self.dsn, str(e), "lost the connection to the source") from e


def connect(dsn: str, autocommit: bool = True, patience: float | None = ANSWER) -> Connection:
    """A connection for short questions; `patience=None` for statements that take their time. Raises
    SourceUnreachable."""
    try:
        c = Connection.connect(_with_settings(dsn), autocommit=autocommit, prepare_threshold=None)
    except (psycopg.OperationalError, psycopg.ProgrammingError) as e:
        detail = str(e) if isinstance(e, psycopg.OperationalError) else ""  # the other may quote a password
        raise unreachable(dsn, detail) from (e if detail else None)
    c.dsn, c.patience = dsn, patience
    return c


def replication_dsn(dsn: str) -> bytes:
    return _with_settings(dsn, replication="database").encode()


def parse_lsn(text: str) -> int:
    """'16/B374D848' as a number."""
    high, low = text.split("/")
    return int(high, 16) << 32 | int(low, 16)


def format_lsn(lsn: int) -> str:
    return f"{lsn >> 32:X}/{lsn & 0xFFFFFFFF:X}"


def current_lsn(dsn: str) -> int:
    """Where the source's WAL is now: every commit made before this call lies below."""
    with connect(dsn) as c:
        return current_wal(c)


def current_wal(conn: psycopg.Connection[Any]) -> int:
    row = conn.execute("SELECT pg_current_wal_insert_lsn()").fetchone()
    assert row is not None
    return parse_lsn(row[0])
