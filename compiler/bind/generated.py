"""Generated columns, which Postgres does not send: a table with some is read as a query that computes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from compiler.bind.scope import Bound
from compiler.catalog import Catalog, Generated, Table, quoted
from compiler.errors import TidemarkError
from compiler.parse import parse_query

Bind = Callable[[exp.Expr, Catalog], Bound]


def with_generated(t: Table, bind: Bind) -> Bound | None:
    """The table with its generated columns, each at its place, but for those whose expressions are not supported; None
    where none is."""
    plain = Catalog({(t.schema, t.name): replace(t, expressions=())})
    good = [g for g in t.expressions if _bound(t, [g], plain, bind) is not None]
    return _bound(t, good, plain, bind) if good else None


def _bound(t: Table, some: list[Generated], plain: Catalog, bind: Bind) -> Bound | None:
    items: list[str] = []
    for i, c in enumerate([*t.columns, None]):
        items += [f"CAST({g.expression} AS {g.source_type}) AS {quoted(g.name)}" for g in some if g.after == i]
        items += [quoted(c.name)] if c is not None else []
    text = f"SELECT {', '.join(items)} FROM {quoted(t.schema)}.{quoted(t.name)}"
    try:
        return bind(parse_query(text), plain)
    except TidemarkError:
        return None
