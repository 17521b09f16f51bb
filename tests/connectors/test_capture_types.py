"""Every type of the source, copied and streamed, read back as the value that Postgres holds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from pipelines.asking.ask import ask
from tests.connectors.fresh import fresh_database
from tests.project import Project

# type → literals; the first two are in the first copy, the others are streamed
TYPES: dict[str, list[str]] = {
    "bool": ["true", "false", "true"],
    "int2": ["-32768", "0", "32767", "-1"],
    "int4": ["-2147483648", "0", "2147483647"],
    "int8": ["-9223372036854775808", "0", "9223372036854775807"],
    "numeric": ["0", "-1.5", "12345678901234567890.123456789012", "0.000000000001"],
    "numeric(12,3)": ["0", "-1.500", "123456789.999", "-999999999.999"],
    "numeric(38,0)": ["1", "-1", "99999999999999999999999999999999999999"],
    "float4": ["1.1", "-0.0", "'NaN'", "'Infinity'", "'-Infinity'", "3.4028235e38", "1e-45"],
    "float8": [
        "0.1",
        "-0.0",
        "'NaN'",
        "'Infinity'",
        "'-Infinity'",
        "1.7976931348623157e308",
        "5e-324",
        "0.30000000000000004",
    ],
    "text": [
        "''",
        "'a'",
        "'twelve bytes'",
        "'thirteen byte'",
        "'line\nbreak, \"quote\" \\ back'",
        "'日本😀'",
        "'NULL'",
        "repeat('x', 5000)",
    ],
    "char(4)": ["'ab'", "''", "'abcd'", "' x'"],
    "inet": ["'10.0.0.1'", "'::1'", "'10.0.0.0/8'"],
    "varchar(20)": ["''", "'a '", "'ünï'"],
    "date": ["'2024-02-29'", "'0001-01-01'", "'9999-12-31'", "'1999-01-01'"],
    "time": ["'00:00:00'", "'12:34:56.789012'", "'23:59:59.999999'"],
    "timestamp": ["'2024-02-29 12:34:56.789012'", "'1970-01-01'", "'0001-01-01'", "'9999-12-31 23:59:59.999999'"],
    "timestamptz": ["'2024-02-29 12:34:56.789012+05:30'", "'1970-01-01 00:00:00Z'", "'2024-07-01 00:00:00-11'"],
    "uuid": ["'00000000-0000-0000-0000-000000000000'", "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", "gen_random_uuid()"],
    "bytea": ["'\\x'", "'\\x00'", "'\\xdeadbeef'", "'\\x5c785c27'", "decode(repeat('00ff', 2000), 'hex')"],
    "mood": ["'sad'", "'ok'", "'it''s, \"fine\"'"],
    "bool[]": ["'{}'", "'{t,f}'", "'{t,NULL}'"],
    "int2[]": ["'{}'", "'{1,-2}'", "'{NULL,3}'"],
    "int4[]": ["'{}'", "'{1,-2}'", "'{NULL,3}'"],
    "int8[]": ["'{}'", "'{9223372036854775807,-2}'", "'{NULL}'"],
    "numeric(10,2)[]": ["'{}'", "'{1.25,-2.00}'", "'{NULL,0.01}'"],
    "float4[]": ["'{}'", "'{1.5,-2}'", "'{Infinity,NULL}'"],
    "float8[]": ["'{}'", "'{0.1,-2e300}'", "'{-Infinity,NULL}'"],
    "text[]": [
        "'{}'",
        "'{a,b}'",
        '\'{"a,b","c}"}\'',
        '\'{NULL,"NULL",""}\'',
        "ARRAY['a \"q\" b', 'back\\slash', ' pad ']",
    ],
    "varchar(9)[]": ["'{}'", "'{a,b}'", "'{\"c d\"}'"],
    "date[]": ["'{}'", "'{2024-02-29,0001-01-01}'", "'{NULL,1999-12-31}'"],
    "time[]": ["'{}'", "'{00:00:00,12:34:56.789012}'", "'{NULL}'"],
    "timestamp[]": ["'{}'", "'{2024-02-29 12:34:56.789012}'", "'{NULL,1970-01-01}'"],
    "timestamptz[]": ["'{}'", "'{2024-02-29 12:34:56+05:30}'", "'{NULL}'"],
    "uuid[]": ["'{}'", "'{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}'", "'{NULL}'"],
    "mood[]": ["'{}'", "'{sad,ok}'", "ARRAY['it''s, \"fine\"']::mood[]"],
}
# compared as the text that both sides print
AS_TEXT: dict[str, list[str]] = {
    "json": ["'{}'", '\'{"b": 1,  "a": [null, "x"]}\'', "'null'", "'\"text\"'", '\'{"a": 1, "a": 2}\''],
    "jsonb": ["'{}'", '\'{"b": 1,  "a": [null, "x"]}\'', "'null'", "'1.50'"],
    "int4range": ["'[1,5)'", "'empty'", "'(,3]'"],
    "int4multirange": ["'{[1,5),[8,9)}'", "'{}'", "'{(,3],[5,)}'"],
}
INTERVALS = [
    "'0'",
    "'1 year 2 mons 3 days 04:05:06.789012'",
    "'-1 mon +2 days -03:04:05'",
    "'1000000 hours'",
    "'-00:00:00.000001'",
]
ALL = {**TYPES, **AS_TEXT, "interval": INTERVALS}
NAMES = {t: f"t{i}" for i, t in enumerate(ALL)}


@pytest.fixture(scope="module")
def typed(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with fresh_database(server, "types") as dsn:
        p = Project.create(
            tmp_path_factory.mktemp("types"), dsn, {n: f"SELECT id, v FROM {n}s" for n in NAMES.values()}
        )
        p.source("CREATE TYPE mood AS ENUM ('sad', 'ok', 'it''s, \"fine\"')")
        with psycopg.connect(dsn, autocommit=True) as c:
            for t, n in NAMES.items():
                c.execute(f"CREATE TABLE {n}s (id int PRIMARY KEY, v {t})")  # type: ignore[arg-type]
                c.execute(f"INSERT INTO {n}s VALUES (1, {ALL[t][0]}), (2, {ALL[t][1]}), (3, NULL)")  # type: ignore[arg-type]
        p.deploy()
        with psycopg.connect(dsn, autocommit=True) as c:
            for t, n in NAMES.items():
                for i, v in enumerate(ALL[t][2:], 4):
                    c.execute(f"INSERT INTO {n}s VALUES ({i}, {v})")  # type: ignore[arg-type]
                c.execute(f"INSERT INTO {n}s VALUES (100, NULL), (101, {ALL[t][0]}), (102, {ALL[t][0]})")  # type: ignore[arg-type]
                c.execute(f"UPDATE {n}s SET v = {ALL[t][1]} WHERE id = 1")  # type: ignore[arg-type]
                c.execute(f"UPDATE {n}s SET v = NULL WHERE id = 101")  # type: ignore[arg-type]
                c.execute(f"DELETE FROM {n}s WHERE id = 102")  # type: ignore[arg-type]
        p.catch_up()
        yield p


def plain(v: Any) -> Any:
    """A value with the differences of two drivers taken out."""
    if isinstance(v, float):
        return "NaN" if math.isnan(v) else repr(v)
    if isinstance(v, list):
        return [plain(x) for x in v]
    if isinstance(v, bytes | memoryview):
        return bytes(v).hex()
    if hasattr(v, "astimezone") and getattr(v, "tzinfo", None) is not None:
        return v.timestamp()
    return v if v is None or isinstance(v, bool | int) or hasattr(v, "quantize") or hasattr(v, "year") else str(v)


def ours(p: Project, t: str, value: str = "v") -> dict[int, Any]:
    rows: pa.Table = ask(p.config, f"SELECT id, {value} AS v FROM {NAMES[t]}", False)
    assert len({r["id"] for r in rows.to_pylist()}) == rows.num_rows
    return {r["id"]: r["v"] for r in rows.to_pylist()}


def theirs(p: Project, t: str, value: str = "v") -> dict[int, Any]:
    with psycopg.connect(p.dsn, options="-c TimeZone=UTC") as c:
        return dict(c.execute(f"SELECT id, {value} FROM {NAMES[t]}s").fetchall())  # type: ignore[arg-type]


@pytest.mark.parametrize("t", TYPES)
def test_a_value_arrives_as_it_is(typed: Project, t: str) -> None:
    want, got = theirs(typed, t, "v::text[]" if t == "mood[]" else "v"), ours(typed, t)
    assert len(want) == len(ALL[t]) + 3
    if t.startswith("float4"):  # single precision, widened by each driver in its own way
        got, want = ({k: single(v) for k, v in x.items()} for x in (got, want))
    assert {k: plain(v) for k, v in got.items()} == {k: plain(v) for k, v in want.items()}


def single(v: Any) -> Any:
    if isinstance(v, list):
        return [single(x) for x in v]
    return v if v is None else pa.scalar(v, pa.float32()).as_py()


@pytest.mark.parametrize("t", AS_TEXT)
def test_a_value_reads_as_postgres_prints_it(typed: Project, t: str) -> None:
    want = theirs(typed, t, "v::text")
    assert ours(typed, t, "v::VARCHAR") == want


def test_intervals_keep_months_days_and_microseconds_apart(typed: Project) -> None:
    parts = (
        "extract(year FROM v) * 12 + extract(month FROM v), extract(day FROM v), "
        "extract(hour FROM v) * 3600000000::int8 + extract(minute FROM v) * 60000000 + extract(microseconds FROM v)"
    )
    want = {k: v if v[0] is not None else None for k, v in theirs(typed, "interval", f"ARRAY[{parts}]::int8[]").items()}
    got = {
        k: [v.months, v.days, v.nanoseconds // 1000] if v is not None else None
        for k, v in ours(typed, "interval").items()
    }
    assert got == {k: v for k, v in want.items()}


def test_every_view_of_every_type_verifies(typed: Project) -> None:
    typed.assert_equal()
