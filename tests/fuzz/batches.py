"""Random transactions over a schema: the changes that break incremental maintenance elsewhere."""

from __future__ import annotations

import random

from tests.fuzz.schema import Column, Table, insert, literal, nullable_literal


def _where(rng: random.Random, t: Table) -> str:
    c = rng.choice([c for c in t.columns if c.type not in ("ints", "json")])
    if rng.random() < 0.2 and c.nullable:
        return f"{c.name} IS NULL"
    return f"{c.name} {rng.choice(('=', '=', '<', '>'))} {literal(rng, c.type, c.span)}"


def _update(rng: random.Random, t: Table) -> list[str]:
    free = [c for c in t.columns if c.name not in t.key]
    some = rng.sample(free, min(len(free), rng.randint(1, 2)))
    sets = ", ".join(f"{c.name} = {_next(rng, c)}" for c in some)
    return [f"UPDATE {t.name} SET {sets} WHERE {_where(rng, t)}"]


def _next(rng: random.Random, c: Column) -> str:
    step = c.type in ("int", "big", "num") and not c.refers and rng.random() < 0.3
    return f"{c.name} + 1" if step else nullable_literal(rng, c)


def _delete(rng: random.Random, t: Table) -> list[str]:
    return [f"DELETE FROM {t.name} WHERE {_where(rng, t)}"]


def _insert(rng: random.Random, t: Table) -> list[str]:
    return [insert(rng, t, rng.randint(1, 6))]


def _move_key(rng: random.Random, t: Table) -> list[str]:
    c = next(c for c in t.columns if c.name == (t.key[0] if t.key else t.columns[0].name))
    return [f"UPDATE {t.name} SET {c.name} = {c.name} + {rng.choice((1, 17, 100))} WHERE {_where(rng, t)}"]


def _swap_key(rng: random.Random, t: Table) -> list[str]:
    c = t.key[0] if t.key else t.columns[0].name
    a, b = rng.sample(range(15), 2)
    return [
        f"UPDATE {t.name} SET {c} = {c} + 1000 WHERE {c} = {a}",
        f"UPDATE {t.name} SET {c} = {a} WHERE {c} = {b}",
        f"UPDATE {t.name} SET {c} = {b} WHERE {c} = {a} + 1000",
    ]


def _refill(rng: random.Random, t: Table) -> list[str]:
    c = rng.choice([c for c in t.columns if c.type in ("int", "text", "num")])
    value = literal(rng, c.type, c.span)
    return [f"DELETE FROM {t.name} WHERE {c.name} = {value}", insert(rng, t, rng.randint(1, 3), {c.name: value})]


def _empty(rng: random.Random, t: Table) -> list[str]:
    c = rng.choice([c for c in t.columns if c.type in ("int", "text", "num")])
    return [f"DELETE FROM {t.name} WHERE {c.name} = {literal(rng, c.type, c.span)} OR {c.name} IS NULL"]


def _all_gone(rng: random.Random, t: Table) -> list[str]:
    return [rng.choice((f"TRUNCATE {t.name} CASCADE", f"DELETE FROM {t.name}"))]


def _round_trip(rng: random.Random, t: Table) -> list[str]:
    copy = f"k_{rng.randrange(10**6)}"
    where = _where(rng, t)
    return [
        f"CREATE TEMP TABLE {copy} AS SELECT * FROM {t.name} WHERE {where}",
        f"DELETE FROM {t.name} WHERE {where}",
        f"INSERT INTO {t.name} SELECT * FROM {copy} ON CONFLICT DO NOTHING",
        f"DROP TABLE {copy}",
    ]


MOVES = (
    (_update, 8),
    (_insert, 6),
    (_delete, 4),
    (_move_key, 2),
    (_swap_key, 1),
    (_refill, 2),
    (_empty, 2),
    (_all_gone, 0.3),
    (_round_trip, 0.7),
)


def transaction(rng: random.Random, tables: list[Table]) -> str:
    """One transaction of one to eight statements over random tables."""
    moves, weights = zip(*MOVES, strict=True)
    statements: list[str] = []
    for _ in range(rng.randint(1, 8)):
        statements += rng.choices(moves, weights)[0](rng, rng.choice(tables))
    return "BEGIN;\n" + ";\n".join(statements) + ";\nCOMMIT;\n"


def batches(rng: random.Random, tables: list[Table], count: int) -> list[str]:
    """`count` batches of one to three transactions; the last but one empties a table, the last fills it again."""
    out = ["".join(transaction(rng, tables) for _ in range(rng.randint(1, 3))) for _ in range(count - 2)]
    t = rng.choice(tables)
    out.append(f"DELETE FROM {t.name};\n")
    out.append(insert(rng, t, 12) + ";\n" + transaction(rng, tables))
    return out
