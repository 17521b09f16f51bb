"""Syntax as Postgres itself judges it: its own parser, through pgparse (docs/decisions/syntax-errors.md)."""

from __future__ import annotations

from compiler.errors import InvalidSql

try:
    import pgparse
except ImportError:  # no wheel for this platform: sqlglot alone reads the text
    pgparse = None  # type: ignore[assignment,unused-ignore]


def available() -> bool:
    """Whether Postgres' parser can be asked."""
    return pgparse is not None


def check(text: str) -> None:
    """Raises InvalidSql, with its place, where Postgres' grammar does not take the text."""
    if pgparse is None:
        return
    try:
        pgparse.fingerprint(text)
    except pgparse.PGQueryError as e:
        message, at = e.args
        error = InvalidSql(str(message), code="syntax_error")
        error.at = max(int(at) - 1, 0)
        raise error from e
