"""Z-sets in memory, and the tables, states and steps of a batch as such."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

Row = tuple[Any, ...]
ZSet = dict[Row, int]
Weighted = list[tuple[Row, int]]


@dataclass
class Database:
    """Tables before a batch, and the batch; states as they are, and what the steps of the batch gave: name → Z-set."""

    before: dict[str, ZSet]
    delta: dict[str, ZSet] = field(default_factory=dict)
    states: dict[str, ZSet] = field(default_factory=dict)
    temps: dict[str, ZSet] = field(default_factory=dict)

    def at(self, table: str, time: str) -> ZSet:
        if time == "delta":
            return self.delta.get(table, {})
        return self.before[table] if time == "before" else add(self.before[table], self.delta.get(table, {}))


def add(*zsets: ZSet) -> ZSet:
    """Sum of weights; rows of weight 0 drop out."""
    out: dict[Row, int] = defaultdict(int)
    for z in zsets:
        for row, w in z.items():
            out[row] += w
    return {r: w for r, w in out.items() if w}


def scaled(z: ZSet, by: int) -> ZSet:
    """Weights multiplied."""
    return {r: w * by for r, w in z.items() if w * by}


def tally(rows: Weighted) -> ZSet:
    """Equal rows added up."""
    out: dict[Row, int] = defaultdict(int)
    for r, w in rows:
        out[r] += w
    return {r: w for r, w in out.items() if w}
