"""Generated columns, which Postgres does not send: a table with some is read as a query that computes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from compiler.bind.join_tree import ident
from compiler.bind.scope import Bound
from compiler.catalog import Catalog, Generated, Table, quoted
from compiler.errors import TidemarkError
from compiler.parse import parse_query

Bind = Callable[[exp.Expr, Catalog], Bound]


def mentioned(query: exp.Expr) -> set[str] | None:
    """The names that a query has; None where it may ask for columns that it does not name."""
    for n in query.walk():
        if isinstance(n, exp.Star) and not isinstance(n.parent, exp.Func):  # count(*)
            return None
        if isinstance(n, exp.Join) and str(n.args.get("method") or "").upper() == "NATURAL":
            return None
        if isinstance(n, exp.TableAlias) and n.args.get("columns"):
            return None
        if isinstance(n, exp.Table) and not isinstance(n.parent, exp.From | exp.Join):  # TABLE t
            return None
    names = {str(i.this) if i.args.get("quoted") else str(i.this).lower() for i in query.find_all(exp.Identifier)}
    tables = {ident(t.args["alias"].this if t.args.get("alias") else t.this) for t in query.find_all(exp.Table)}
    bare = {ident(c.this) for c in query.find_all(exp.Column) if isinstance(c.this, exp.Identifier)}
    return None if bare & tables else names  # a table's name alone is its whole row


def with_generated(t: Table, bind: Bind, names: set[str] | None) -> Bound | None:
    """The table with its generated columns that have one of these names, or all, each at its place, but for those whose
    expressions are not supported; None where none is left. What reads none is the same without them."""
    plain = Catalog({(t.schema, t.name): replace(t, expressions=())})
    some = [g for g in t.expressions if names is None or g.name in names]
    good = [g for g in some if _bound(t, [g], plain, bind) is not None]
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
