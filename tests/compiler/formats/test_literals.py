"""Every literal is taken or refused as Postgres does, and refused in its words."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import sql

from compiler.catalog import parse_type
from compiler.errors import InvalidSql
from compiler.formats.input import read
from compiler.formats.input.numerics import check_field
from tests.compiler.formats.literals import LITERALS
from tests.connectors.fresh import fresh_database

LABELS = ("new", "shipped", "o'k", "two words")
INTEGERS = {"0x1F", "0b101", "0o17", "1_000"}  # since Postgres 16
UNITS = {"10h30", "J2451187", "j2451187", "JD 2451187", "y2025m01d31"}  # y, m and d until Postgres 15
STYLES = ("MDY", "DMY", "YMD")
DATED = ("date", "time", "timestamp", "timestamptz", "date[]")
LEFT: dict[str, set[str]] = {  # what passes although this server may refuse it
    **{kind: INTEGERS for kind in ("smallint", "integer", "bigint", "numeric")},
    **{kind: UNITS for kind in ("date", "timestamp", "timestamptz")},
    "time": UNITS | {"Jan-31-2025", "jan.5.2025"},  # or names of time zones in the manner of POSIX
    "interval": {"infinity", "-infinity"},
    "integer[]": {"{{}}", "{{},{}}", "{{},{1}}"},  # since Postgres 17
}


@pytest.fixture(scope="module")
def source(server):  # type: ignore[no-untyped-def]
    with fresh_database(server, "literals") as dsn, psycopg.connect(dsn, autocommit=True) as c:
        c.execute("CREATE TYPE order_status AS ENUM ('new', 'shipped', 'o''k', 'two words')")
        c.execute("SET TimeZone = 'UTC'")
        yield c


def postgres(source: psycopg.Connection, kind: str, text: str) -> str:
    """What it says of the literal; nothing where it takes it, of dates in any order of day, month and year."""
    said = [_postgres(source, kind, text, style) for style in STYLES if style == "MDY" or kind in DATED]
    return said[0] if all(said) else ""


def _postgres(source: psycopg.Connection, kind: str, text: str, style: str) -> str:
    try:
        source.execute(f"SET DateStyle = 'ISO, {style}'")
        source.execute(sql.SQL("SELECT {}::" + kind).format(sql.Literal(text)))
        return ""
    except psycopg.Error as e:
        return e.diag.message_primary or "?"


@pytest.mark.parametrize("kind", LITERALS)
def test_the_text_that_engines_are_given_has_the_value_of_the_literal(source: psycopg.Connection, kind: str) -> None:
    same = sql.SQL("SELECT {}::" + kind + "::text, {}::" + kind + "::text")
    for text in LITERALS[kind]:
        if postgres(source, kind, text):
            continue
        if (given := read(text, parse_type(kind, {"order_status": LABELS}))) != text:
            for style in STYLES:
                source.execute(f"SET DateStyle = 'ISO, {style}'")
                a, b = source.execute(same.format(sql.Literal(text), sql.Literal(given))).fetchone() or ("", "no row")
                assert a == b, (text, given, style)


def ours(kind: str, text: str) -> str:
    try:
        t = parse_type(kind, {"order_status": LABELS})
        read(text, t)
        if "(" in kind and t.name == "numeric":
            check_field(text, t.precision or 0, t.scale or 0)
        return ""
    except InvalidSql as e:
        return e.message


@pytest.mark.parametrize("kind", LITERALS)
def test_a_literal_is_refused_where_postgres_refuses_it_and_in_its_words(source: psycopg.Connection, kind: str) -> None:
    wrong = []
    for text in LITERALS[kind]:
        theirs, mine = postgres(source, kind, text), ours(kind, text)
        if theirs != mine and not (mine == "" and text in LEFT.get(kind, ())):
            wrong.append((text, theirs, mine))
    told = (f"{t!r}: Postgres {p or 'takes it'!r}, Tidemark {m or 'takes it'!r}" for t, p, m in wrong)
    assert not wrong, "\n".join(told)
