"""What a landed batch leaves as it was: columns that are the same before and after in each row that it changes.

States that read no others need not be maintained. Which columns those are costs a look at the batch, and a program of
its own for each answer: so it is looked for as long as it is found, and an answer counts when it has come before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from compiler.catalog import Column, Table
from compiler.ir import types
from compiler.maintain.differentiate import Same
from connectors.duckdb.held import Held, Reads
from connectors.duckdb.mirror import batch, of_several_forms, on_key, q

OFTEN = 3  # times that an answer has come, from which on it has a program
MOST = 32  # answers that have one
FUTILE = 16  # times in a row that a table had none, after which every FUTILE-th batch is looked at


class Unchanged:
    """Looks at the batches of one engine."""

    def __init__(self, held: Held) -> None:
        self.held = held
        self.found: Counter[Same] = Counter()
        self.futile: Counter[str] = Counter()

    def columns(self, landed: Iterable[tuple[Table, int, int]], columns: Mapping[str, frozenset[str]]) -> Same:
        """Of tables with so many rows in the batch, and so many of them taken away, the columns among `columns` that
        are as they were; nothing where that has been found rarely."""
        out = set()
        for t, rows, gone in landed:
            name = f"{t.schema}.{t.name}"
            if rows == 2 * gone and self._worth(name) and (same := self._same(t, gone, columns.get(name, frozenset()))):
                self.futile[name] = 0
                out.add((name, same))
        found = frozenset(out)
        if not found or (found not in self.found and len(self.found) >= MOST):
            return frozenset()
        self.found[found] += 1
        return found if self.found[found] >= OFTEN else frozenset()

    def _worth(self, table: str) -> bool:
        self.futile[table] += 1
        return self.futile[table] <= FUTILE or self.futile[table] % FUTILE == 0

    def _same(self, t: Table, gone: int, columns: frozenset[str]) -> frozenset[str]:
        """The columns that each pair of an old and a new row with one key has the same, where all rows are in one."""
        looked = [c for c in t.columns if c.name in columns and _of_one_form(c)]
        if not t.key or t.deferrable or not looked:
            return frozenset()
        changed = ", ".join(f"count(*) FILTER (WHERE o.{q(c.name)} IS DISTINCT FROM n.{q(c.name)})" for c in looked)
        row = self.held.read(
            f"SELECT count(*), {changed} FROM {batch(t)} o JOIN {batch(t)} n ON {on_key(t.key, 'o', 'n')} "
            "WHERE o._weight < 0 AND n._weight > 0",
            Reads((batch(t),), True),
        ).fetchone()
        if row is None or row[0] != gone:
            return frozenset()
        return frozenset(c.name for c, n in zip(looked, row[1:], strict=True) if not n)


def _of_one_form(c: Column) -> bool:
    """Whether equal values of it are the same value."""
    return not of_several_forms(c.type) and not types.is_float(c.type.element or c.type)
