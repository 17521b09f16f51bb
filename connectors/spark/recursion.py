"""Recursion round by round, where Spark's own WITH RECURSIVE does not go: UNION, and rounds that aggregate the round
before."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any, TypeGuard

from compiler.ir.relation import (
    Aggregate,
    Fixpoint,
    LeftJoin,
    Project,
    Recur,
    Relation,
    Semi,
    Temp,
    TopK,
    Window,
    transform,
    walk,
)
from compiler.ir.scalar import Col, conj, same
from compiler.spelling.spark import type_name
from connectors.spark import mirror
from connectors.spark.store import Store

NUMBERS = count(1)


def _by_rounds(n: Relation) -> TypeGuard[Fixpoint]:
    """A recursion with UNION, or whose step reads the round before in an aggregate, a window, a limit or an outer
    side."""
    if not isinstance(n, Fixpoint):
        return False
    read: set[Relation] = {x for x in walk(n.step) if any(isinstance(y, Recur) and y.name == n.name for y in walk(x))}
    return n.distinct or any(
        isinstance(x, Aggregate | Window | TopK) or isinstance(x, LeftJoin | Semi) and x.right in read for x in read
    )


class Recursion:
    """Finds the rows of recursive relations and stores them, so that what reads them reads a table."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def unrolled(self, r: Relation, folder: Path, session: Any, versions: Mapping[str, int] | None = None) -> Relation:
        """`r` with each recursion that Spark has no words for replaced by its rows, stored as Parquet under
        `folder`."""
        if not any(map(_by_rounds, walk(r))):
            return r
        found: dict[Relation, Relation] = {}

        def rows(n: Relation) -> Relation:
            if not _by_rounds(n) or any(isinstance(x, Recur) and x.name != n.name for x in walk(n)):
                return n  # what is inside another recursion is found in each of its rounds
            if n not in found:
                found[n] = self._rounds(n, folder, session, versions)
            return found[n]

        return transform(r, rows)

    def _rounds(self, q: Fixpoint, folder: Path, session: Any, versions: Mapping[str, int] | None) -> Temp:
        """Rows of the base, then of the step over the rows last found, for UNION less those known, until there are
        none."""
        folder.mkdir(parents=True, exist_ok=True)
        own = Path(tempfile.mkdtemp(prefix="rounds", dir=folder))
        name = f"rounds_{next(NUMBERS)}"
        known, last = Temp(name, q.schema, False), Temp(f"{name}_last", q.schema, False)
        stored: list[str] = []
        part: Relation = q.base
        while True:
            items = tuple((c.name, Col(p.name, c.type)) for c, p in zip(q.schema, part.schema, strict=True))
            new: Relation = Aggregate(part, items, ()) if q.distinct else Project(part, items)
            if stored and q.distinct:
                other = {c.name: Col(f"{c.name}_known", c.type) for c in q.schema}
                have = Project(known, tuple((other[c.name].name, c) for c in q.schema))
                new = Semi(new, have, conj([same(c, other[c.name]) for c in q.schema]), anti=True)
            stored.append(str(own / str(len(stored))))
            text = self.store.printer.query(self.unrolled(new, own, session, versions), False, versions=versions)
            cast = ", ".join(f"CAST({mirror.q(c.name)} AS {type_name(c.type)}) AS {mirror.q(c.name)}" for c in q.schema)
            self.store.sql(f"SELECT {cast} FROM ({text})", session).coalesce(1).write.parquet(stored[-1])
            session.read.parquet(stored[-1]).createOrReplaceTempView(last.name)
            session.read.parquet(*stored).createOrReplaceTempView(known.name)
            if session.read.parquet(stored[-1]).isEmpty():
                return known
            part = transform(q.step, lambda n: last if isinstance(n, Recur) and n.name == q.name else n)
