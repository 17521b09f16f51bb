"""Connections to the source, with the settings that make Postgres print values one way only."""

from __future__ import annotations

import psycopg
from psycopg import conninfo

from compiler.errors import TidemarkError

SETTINGS = {
    "TimeZone": "UTC", "DateStyle": "ISO", "IntervalStyle": "postgres", "extra_float_digits": "3",
    "bytea_output": "hex", "client_encoding": "UTF8",
    "row_security": "off",  # a table whose rows a policy hides is an error, not fewer rows than the stream has
    "statement_timeout": "0", "lock_timeout": "0", "idle_in_transaction_session_timeout": "0",  # a first copy takes its time
}


class SourceUnreachable(TidemarkError):
    exit_code = 3


def _with_settings(dsn: str, **extra: str) -> str:
    options = " ".join(f"-c {k}={v}" for k, v in SETTINGS.items() if k != "client_encoding")
    known = conninfo.conninfo_to_dict(dsn)
    if known.get("options"):
        options = f"{known['options']} {options}"
    return conninfo.make_conninfo(dsn, options=options, client_encoding="UTF8",
                                  application_name=str(known.get("application_name") or "tidemark"), **extra)


def describe(dsn: str) -> str:
    """The source without its password, for messages."""
    try:
        d = conninfo.conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:
        return "whose dsn cannot be read"
    return f"{d.get('user', '')}@{d.get('host', 'localhost')}:{d.get('port', 5432)}/{d.get('dbname', '')}"


def _unreachable(dsn: str, e: Exception) -> SourceUnreachable:
    return SourceUnreachable(f"cannot connect to the source {describe(dsn)}", code="source_unreachable",
                             detail=str(e).strip().split("\n")[0] if isinstance(e, psycopg.OperationalError) else "",  # it may quote a password
                             hint="Check [source] dsn in tidemark.toml, and that Postgres accepts the connection.")


def connect(dsn: str, autocommit: bool = True) -> psycopg.Connection:
    """An ordinary connection; raises SourceUnreachable."""
    try:
        return psycopg.connect(_with_settings(dsn), autocommit=autocommit, prepare_threshold=None)
    except (psycopg.OperationalError, psycopg.ProgrammingError) as e:
        raise _unreachable(dsn, e) from e


def replication_dsn(dsn: str) -> bytes:
    return _with_settings(dsn, replication="database").encode()


def parse_lsn(text: str) -> int:
    """'16/B374D848' as a number."""
    high, low = text.split("/")
    return int(high, 16) << 32 | int(low, 16)


def format_lsn(lsn: int) -> str:
    return f"{lsn >> 32:X}/{lsn & 0xFFFFFFFF:X}"
