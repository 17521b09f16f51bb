"""Random schemas: primary keys, references, nullable columns, skewed values, duplicates and a table without a key.

Values come from small domains, so that joins meet, groups empty and fill again, and rows repeat.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

TYPES = {
    "int": "int",
    "big": "bigint",
    "num": "numeric(12,2)",
    "text": "text",
    "char": "char(4)",
    "bool": "boolean",
    "ts": "timestamp",
    "tz": "timestamptz",
    "date": "date",
    "float": "double precision",
    "gap": "interval",
    "ints": "int[]",
    "json": "jsonb",
}
PLAIN = ("int", "int", "big", "num", "num", "text", "text", "bool", "ts", "date", "float")
RARE = ("char", "tz", "ints", "json", "gap", "gap")
GAPS = (
    "1 day",
    "24:00",
    "2 days",
    "48:00",
    "1 day 02:00",
    "26:00",
    "1 mon",
    "30 days",
    "00:30",
    "-1 day",
)  # equal ones in two forms
TEXTS = ("", "a", "b", "A", "ab", "Zoë", "x_y", "10%", "b")


@dataclass(frozen=True)
class Column:
    """A column; `type` is a name of TYPES, `refers` the table whose key it points at, if any."""

    name: str
    type: str
    nullable: bool = True
    refers: str | None = None
    span: int = 9

    def ddl(self, enforced: bool) -> str:
        """Its line in CREATE TABLE."""
        null = "" if self.nullable else " NOT NULL"
        action = "SET NULL" if self.nullable else "CASCADE"
        link = f" REFERENCES {self.refers} ON DELETE {action} ON UPDATE CASCADE" if self.refers and enforced else ""
        return f"{self.name} {TYPES[self.type]}{null}{link}"


@dataclass(frozen=True)
class Table:
    """A base table; without `key` it keeps duplicates and has REPLICA IDENTITY FULL."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    enforced: bool = False

    def ddl(self) -> str:
        """CREATE TABLE and, for a table without a key, its replica identity."""
        parts = [c.ddl(self.enforced) for c in self.columns]
        parts += [f"PRIMARY KEY ({', '.join(self.key)})"] if self.key else []
        full = "" if self.key else f"\nALTER TABLE {self.name} REPLICA IDENTITY FULL;"
        return f"CREATE TABLE {self.name} ({', '.join(parts)});{full}"


def literal(rng: random.Random, type: str, span: int = 9) -> str:
    """A value of the type, low values more often than high ones."""
    n = min(rng.randint(0, span), rng.randint(0, span))
    if type in ("int", "big"):
        return str(n if rng.random() < 0.9 else -n)
    if type == "num":
        return rng.choice([f"{n}.{rng.choice(('00', '50', '25', '10'))}", f"-{n}.75", "0"])
    if type in ("text", "char"):
        return f"'{rng.choice(TEXTS)}'"
    if type == "bool":
        return rng.choice(("true", "false"))
    if type == "ts":
        return f"timestamp '2025-0{1 + n % 3}-0{1 + n % 9} {n:02}:30:00'"
    if type == "tz":
        return f"timestamptz '2025-0{1 + n % 3}-01 {n:02}:00:00+00'"
    if type == "date":
        return f"date '2025-0{1 + n % 3}-{1 + n:02}'"
    if type == "float":
        return f"{n * 0.25 - 0.5}::float8"
    if type == "gap":
        return f"interval '{GAPS[n % len(GAPS)]}'"
    if type == "ints":
        return "'{" + ",".join(str(rng.randint(0, 4)) for _ in range(n % 4)) + "}'::int[]"
    return f"""'{{"a": {n}, "b": [{n % 3}, 1], "c": "{rng.choice("xyz")}"}}'::jsonb"""


def nullable_literal(rng: random.Random, c: Column) -> str:
    """A value for the column, NULL now and then where it may be."""
    return "NULL" if c.nullable and rng.random() < 0.18 else literal(rng, c.type, c.span)


def make_schema(rng: random.Random) -> list[Table]:
    """Five tables: a root, two that refer to it, one that refers to itself, one without a key."""

    def extras(n: int) -> list[Column]:
        kinds = ["int", "num", "text"] + [rng.choice(RARE if rng.random() < 0.2 else PLAIN) for _ in range(n)]
        return [Column(f"{k[0]}{i}", k, rng.random() < 0.75) for i, k in enumerate(kinds)]

    root = Table("r0", (Column("id", "int", False, span=14), *extras(3)), ("id",))
    child = Table(
        "c1",
        (Column("id", "big", False, span=40), Column("rid", "int", True, "r0", 14), *extras(3)),
        ("id",),
        rng.random() < 0.4,
    )
    line = Table(
        "l2",
        (
            Column("cid", "big", False, "c1", 40),
            Column("pos", "int", False, span=4),
            Column("rid", "int", True, "r0", 14),
            *extras(2),
        ),
        ("cid", "pos"),
        False,
    )
    tree = Table("s3", (Column("id", "int", False, span=14), Column("up", "int", True, "s3", 14), *extras(1)), ("id",))
    loose = Table("k4", (Column("rid", "int", True, "r0", 14), *extras(2)), ())
    return [root, child, line, tree, loose]


def insert(rng: random.Random, t: Table, n: int, fixed: dict[str, str] | None = None) -> str:
    """INSERT of n random rows, with some columns fixed; rows whose key exists are left out."""
    rows = [", ".join((fixed or {}).get(c.name) or nullable_literal(rng, c) for c in t.columns) for _ in range(n)]
    if not t.key and n > 1:
        rows[-1] = rows[0]
    return f"INSERT INTO {t.name} VALUES ({'), ('.join(rows)}) ON CONFLICT DO NOTHING"


def load(rng: random.Random, tables: list[Table]) -> list[str]:
    """The first rows of every table; now and then a table starts empty."""
    sizes = {"r0": 12, "c1": 45, "l2": 60, "s3": 12, "k4": 25}
    rows = [insert(rng, t, sizes[t.name]) for t in tables if rng.random() > 0.05]
    if any(t.enforced for t in tables):
        rows = [insert(rng, tables[0], 1, {"id": str(i)}) for i in range(-14, 15)] + rows
    return rows
