"""Ten thousand names and ten thousand values that were made to be misread: quotes, backslashes, controls, code points
of every kind, words of SQL, digits at the edges. Copied, streamed, changed, and compared with Postgres."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import psycopg
import psycopg.types.json
from psycopg import sql

from tests.project import Project

TABLES, COLUMNS = 100, 100
ROWS = 10_000
# fmt: off
PIECES = [
    "'", '"', "''", '""', "\\", "\\\\", "$$", "--", "/*", "*/", ";", "{{", "}", "(", ")", "[", "]", ",", ".", ":",
    "::", "?", "@", "&", "|", "=", "<", ">", "!", "~", "`", "#", "^", "+", "-", "\\.",
    " ", "  ", "\t", "\n", "\r\n", "\x0b", "\x01", "\x1f", "\x7f", "\xa0", "\u200b", "\u2028", "\ufeff", "\xe9",
    "e\u0301", "\xdf", "\u0130", "\u0131", "\u017f", "\ufb01", "\u4e2d", "\U0001f600",
    "\U0001f469\u200d\U0001f467", "\u202e", "\u05d0",
    "$1", "$tag$", "%s", "%(x)s", "{0}", "NULL", "null", "select", "SELECT", "from", "table", "user", "order",
    "group", "_weight", "_seq", "_present", "rowid", "true", "NaN", "base", "state", "main", "delta", "batch_",
    "lent_", "since", "now()", "x", "X", "0", "1", "__", "_", "c0", "k0", "ctid", "\\N", "\\x",
]
# fmt: on
KEPT = {"_weight", "_seq", "_present", "rowid", "_at", "ctid"}  # names that mirrors, or Postgres, have for themselves
KINDS = {
    "t": "text",
    "v": "varchar(40)",
    "b": "bytea",
    "j": "jsonb",
    "a": "text[]",
    "n": "numeric(30,10)",
    "f": "float8",
    "r": "float4",
    "i": "int8",
    "ts": "timestamp",
    "tz": "timestamptz",
    "d": "date",
    "iv": "interval",
    "u": "uuid",
    "e": "boolean",
}


def made(r: random.Random, most: int) -> str:
    return "".join(r.choices(PIECES, k=r.randint(1, most)))


def names(r: random.Random, n: int) -> list[str]:
    """Of at most 63 bytes, different also where capitals do not count."""
    out: dict[str, str] = {}
    while len(out) < n:
        name = made(r, 8).encode()[:63].decode(errors="ignore")
        if name and name.casefold() not in KEPT:
            out.setdefault(name.casefold(), name)
    return list(out.values())


def value(r: random.Random, kind: str) -> object:
    if r.random() < 0.1:
        return None
    match kind:
        case "t":
            return made(r, 12)
        case "v":
            return made(r, 6)[:40]
        case "b":
            return r.randbytes(r.randint(0, 20))
        case "j":
            return psycopg.types.json.Jsonb(
                {made(r, 3): [made(r, 4), r.randint(-9, 9), None, {made(r, 2): r.random() < 0.5}]}
            )
        case "a":
            return [r.choice([None, made(r, 4), ""]) for _ in range(r.randint(0, 4))]
        case "n":
            return f"{r.choice(['-', ''])}{r.randrange(10 ** r.randint(1, 20))}.{r.randrange(10**10):010d}"
        case "f" | "r":
            return r.choice(
                [0.0, -0.0, 1.5, -1e-30, 3.4e38, 1e-45, float("inf"), float("-inf"), float("nan"), r.uniform(-1e9, 1e9)]
            )
        case "i":
            return r.choice([0, -1, 2**63 - 1, -(2**63), r.randrange(-(2**40), 2**40)])
        case "ts" | "tz":
            return r.choice(
                [
                    "0001-01-01 00:00:00",
                    "9999-12-31 23:59:59.999999",
                    "2024-02-29 12:00:00.000001",
                    "infinity",
                    "1970-01-01",
                ]
            )
        case "d":
            return r.choice(["0001-01-01", "9999-12-31", "2024-02-29", "-infinity", "0044-03-15 BC"])
        case "iv":
            return r.choice(
                ["1 mon -1 day 00:00:00.000001", "-3 years 24:00:00", "0", "178000000 years", "1 day -24:00"]
            )
        case "u":
            return f"{r.getrandbits(128):032x}"
    return r.random() < 0.5


def rows(r: random.Random, first: int, n: int) -> Iterator[tuple[object, ...]]:
    for i in range(first, first + n):
        yield (i, *(value(r, k) for k in KINDS))


def test_values(database: str, tmp_path: Path) -> None:
    p = Project.create(
        tmp_path,
        database,
        {
            "all_of_it": "SELECT * FROM t",
            "by_text": "SELECT t, count(*) AS n, max(i) AS m FROM t GROUP BY t",
            "by_list": "SELECT a, count(*) AS n FROM t GROUP BY a",
            "met": "SELECT x.id, y.id AS other FROM t x JOIN t y ON y.v = x.v AND y.id > x.id",
        },
    )
    r = random.Random(7)
    p.source(f"CREATE TABLE t (id int PRIMARY KEY, {', '.join(f'{n} {k}' for n, k in KINDS.items())})")
    half = ROWS // 2
    insert = f"INSERT INTO t VALUES (%s{', %s' * len(KINDS)})"
    with psycopg.connect(database, autocommit=True) as c, c.cursor() as cur:
        cur.executemany(insert, list(rows(r, 0, half)))
        p.deploy()
        p.assert_equal()
        cur.executemany(insert, list(rows(r, half, ROWS - half)))
        for i in range(0, ROWS, 7):
            k = r.choice(list(KINDS))
            cur.execute(sql.SQL("UPDATE t SET {} = %s WHERE id = %s").format(sql.Identifier(k)), (value(r, k), i))
        cur.execute("DELETE FROM t WHERE id % 11 = 3")
        p.assert_equal()


def test_names(database: str, tmp_path: Path) -> None:
    r = random.Random(11)
    tables = {t: names(r, COLUMNS) for t in names(r, TABLES)}
    p = Project.create(tmp_path, database, {})
    with psycopg.connect(database, autocommit=True) as c:
        for at, (t, cols) in enumerate(tables.items()):
            own = sql.SQL(", ").join(
                sql.SQL("{} {}").format(
                    sql.Identifier(n), sql.SQL("int PRIMARY KEY" if i == 0 else ("int", "text")[i % 2])
                )
                for i, n in enumerate(cols)
            )
            c.execute(sql.SQL("CREATE TABLE {} ({})").format(sql.Identifier(t), own))
            c.execute(
                sql.SQL("INSERT INTO {} ({}, {}) VALUES (1, 'a'), (2, 'b'), (3, NULL)").format(
                    *map(sql.Identifier, (t, cols[0], cols[1]))
                )
            )
            q, a, b = (sql.Identifier(n).as_string(c) for n in (t, cols[1], cols[2]))
            (p.home / "views" / f"v{at}.sql").write_text(f"CREATE MATERIALIZED VIEW v{at} AS SELECT * FROM {q};")
            (p.home / "views" / f"g{at}.sql").write_text(
                f"CREATE MATERIALIZED VIEW g{at} AS SELECT {a}, count({b}) AS {b} FROM {q} GROUP BY {a};"
            )
        p.deploy()
        p.assert_equal()
        for t, cols in tables.items():
            some = r.sample(cols[2:], 3)
            c.execute(
                sql.SQL("UPDATE {} SET {} = 'z' WHERE {} = 1").format(*map(sql.Identifier, (t, cols[1], cols[0])))
            )
            c.execute(sql.SQL("UPDATE {} SET {} = NULL").format(*map(sql.Identifier, (t, some[0]))))
            c.execute(sql.SQL("DELETE FROM {} WHERE {} = 2").format(*map(sql.Identifier, (t, cols[0]))))
        p.assert_equal()
