"""Which columns a form of a table has, that names them alone: what is said to be certain is so."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from compiler.catalog import Column, Table
from compiler.ir.types import INT4
from connectors.postgres.placing import OTHER, Attribute, Attributes, places

NAMES = "abcdefgh"


class Evolving:
    """A table of the source; `columns` by number: name, dropped, generated."""

    def __init__(self, chance: random.Random) -> None:
        self.random = chance
        self.columns: dict[int, tuple[str, bool, bool]] = {}
        for _ in range(chance.randint(1, 5)):
            self.add()

    def add(self) -> None:
        free = [n for n in NAMES if n not in self.names()]
        if free:
            self.columns[len(self.columns) + 1] = (self.random.choice(free), False, self.random.random() < 0.15)

    def names(self) -> dict[str, int]:
        return {name: n for n, (name, dropped, _) in self.columns.items() if not dropped}

    def step(self) -> None:
        """One ALTER TABLE."""
        there = [*self.names().values()]
        what = self.random.random()
        if what < 0.2 or not there:
            self.add()
        elif what < 0.4:
            n = self.random.choice(there)
            self.columns[n] = (f"dropped {n}", True, self.columns[n][2])
        elif what < 0.5:
            n = self.random.choice(there)
            self.columns[n] = (*self.columns[n][:2], False)
        else:
            free = [n for n in NAMES if n not in self.names()]
            if free:
                n = self.random.choice(there)
                self.columns[n] = (self.random.choice(free), *self.columns[n][1:])

    def sent(self) -> list[int]:
        return [n for n, (_, dropped, generated) in sorted(self.columns.items()) if not dropped and not generated]

    def looked_at(self) -> Attributes:
        return {n: Attribute(name, not d and not g, d) for n, (name, d, g) in self.columns.items()}


def deployed(e: Evolving) -> Table:
    columns = tuple(Column(e.columns[n][0], INT4, place=n) for n in e.sent())
    generated = tuple(name for name, dropped, g in e.columns.values() if g and not dropped)
    return Table("public", "t", columns, generated=generated)


def told(seed: int) -> Counter[str]:
    chance = random.Random(seed)
    e = Evolving(chance)
    for _ in range(chance.randint(0, 4)):
        e.step()
    t = deployed(e)
    for _ in range(chance.randint(0, 4)):
        e.step()
    form = e.sent()
    received = tuple(e.columns[n][0] for n in form)
    for _ in range(chance.randint(0, 4)):
        e.step()
    found = places(t, received, e.looked_at())
    assert len(found) == len(form)
    kept = {c.place for c in t.columns} & {*e.sent()}  # what is gone by now stops its views whatever it was called
    out: Counter[str] = Counter()
    for said, n in zip(found, form, strict=True):
        if n in kept or said in kept:
            out["right" if said == n else "open" if said == 0 else "wrong"] += 1
    return out


def test_nothing_is_wrong() -> None:
    total: Counter[str] = Counter()
    for seed in range(20_000):
        found = told(seed)
        assert not found["wrong"], (seed, found)
        total += found
    assert total["open"] < 0.2 * total["right"], total


@pytest.mark.parametrize("columns", [1, 30])
def test_names_do_not_matter_where_nothing_went(columns: int) -> None:
    t = Table("public", "t", tuple(Column(f"c{i}", INT4, place=i) for i in range(1, columns + 1)))
    now = {i: Attribute(f"x{i}", True, False) for i in range(1, columns + 3)}
    received = tuple(f"y{i}" for i in range(columns))
    assert places(t, received, now) == tuple(range(1, columns + 1))
    assert places(t, (*received, "z"), now) == (*range(1, columns + 1), OTHER)
