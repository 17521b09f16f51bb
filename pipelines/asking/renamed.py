"""A view's own text over a source that calls tables and columns otherwise by now: each stands there under its new name,
with those that it was deployed with as an alias."""

from __future__ import annotations

from collections.abc import Iterable

import psycopg
from sqlglot import exp

from compiler.catalog import Catalog, Table, identifier, quoted
from compiler.parse import parse_query
from connectors.postgres.catalog import every_column


def aliases(conn: psycopg.Connection, tables: Iterable[Table]) -> dict[tuple[str, str], tuple[str, str]]:
    """By schema and name as deployed, the table in SQL by now, and the list of its columns' names as an alias has
    them."""
    out = {}
    for t in tables:
        deployed = {c.place: c.name for c in t.columns}
        taken = {*deployed.values()}
        others = {p: n if n not in taken else f"{n} of {p}" for p, n in every_column(conn, t.oid).items()}
        names = [quoted(deployed.get(place, now)) for place, now in others.items()]
        out[t.schema, t.name] = (t.quoted, f"({', '.join(names)})")
    return out


def reading(sql: str, catalog: Catalog, of: dict[tuple[str, str], tuple[str, str]]) -> str:
    """The query, which reads these tables as the source has them."""
    tree = parse_query(sql)
    edits: list[tuple[int, int, str]] = []
    for node in tree.find_all(exp.Table):
        schema = identifier(node.args.get("db"))
        t = catalog.find(schema or None, identifier(node.this))
        if t is None or (t.schema, t.name) not in of or (not schema and _is_cte(node)):
            continue
        now, columns = of[t.schema, t.name]
        end, alias = node.this.meta["end"] + 1, node.args.get("alias")
        edits.append((_start(node, "db", "this"), end, now))
        if alias is None:
            edits.append((end, end, f" AS {quoted(t.name)} {columns}"))
        elif not alias.args.get("columns"):
            end = alias.this.meta["end"] + 1
            edits.append((end, end, f" {columns}"))
    for column in tree.find_all(exp.Column):
        name = (identifier(column.args.get("db")), identifier(column.args.get("table")))
        if name in of:  # an alias has no schema
            edits.append((_start(column, "db"), _start(column, "table"), ""))
    for start, end, new in sorted(edits, reverse=True):
        sql = f"{sql[:start]}{new}{sql[end:]}"
    return sql


def _is_cte(node: exp.Table) -> bool:
    """Whether a WITH query of that name is what it reads: one around it, and before it where it is in another."""
    above: exp.Expr | None = node
    while above is not None:
        w = above.args.get("with_")
        if w is not None:
            inside = next((i for i, c in enumerate(w.expressions) if _has(c, node)), len(w.expressions))
            seen = w.expressions if w.args.get("recursive") else w.expressions[:inside]
            if any(identifier(c.args["alias"].this) == identifier(node.this) for c in seen):
                return True
        above = above.parent
    return False


def _has(tree: exp.Expr, node: exp.Expr) -> bool:
    above: exp.Expr | None = node
    while above is not None and above is not tree:
        above = above.parent
    return above is not None


def _start(node: exp.Expr, *parts: str) -> int:
    """Where the first of the parts that there are begins in the text."""
    return int(next(p for p in map(node.args.get, parts) if p is not None).meta["start"])
