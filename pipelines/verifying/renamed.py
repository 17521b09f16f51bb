"""A view's own text over a source whose columns have other names by now: each table that it reads is put before it
under the names that it was deployed with."""

from __future__ import annotations

from collections.abc import Iterable

import psycopg
from sqlglot import exp

from compiler.catalog import Catalog, Table
from compiler.parse import parse_query
from connectors.postgres.catalog import sent_columns


def renamed(tables: Iterable[Table]) -> list[Table]:
    return [t for t in tables if t.called or any(c.called for c in t.columns)]


def part(conn: psycopg.Connection, t: Table) -> str:
    """A WITH query of the table's columns, of those that are there, under their old names."""
    there = sent_columns(conn, t.oid)
    shown = ", ".join(f"{_q(c.now)} AS {_q(c.name)}" for c in t.columns if c.place in there)
    return f"{_named(t)} AS (SELECT {shown} FROM {t.quoted})"


def reading(sql: str, catalog: Catalog, tables: list[Table]) -> str:
    """The query, which reads the WITH queries of these tables in the tables' places."""
    names = {(t.schema, t.name): t for t in tables}
    tree = parse_query(sql)
    ctes = {c.alias for c in tree.find_all(exp.CTE)}
    edits: list[tuple[int, int, str]] = []
    for node in tree.find_all(exp.Table):
        schema = _ident(node.args.get("db"))
        t = catalog.find(schema or None, _ident(node.this))
        if t is not None and (t.schema, t.name) in names and (schema or node.name not in ctes):
            alias = "" if node.alias else f" AS {_q(t.name)}"
            edits.append((_start(node, "db", "this"), node.this.meta["end"] + 1, f"{_named(t)}{alias}"))
    for column in tree.find_all(exp.Column):
        if (
            _ident(column.args.get("db")),
            _ident(column.args.get("table")),
        ) in names:  # of which there is no schema now
            edits.append((_start(column, "db"), _start(column, "table"), ""))
    for start, end, new in sorted(edits, reverse=True):
        sql = f"{sql[:start]}{new}{sql[end:]}"
    return sql


def _start(node: exp.Expr, *parts: str) -> int:
    """Where the first of the parts that there are begins in the text."""
    return int(next(p for p in map(node.args.get, parts) if p is not None).meta["start"])


def _ident(e: object) -> str:
    return str(e.this if e.args.get("quoted") else e.this.lower()) if isinstance(e, exp.Identifier) else ""


def _named(t: Table) -> str:
    return _q(f"{t.schema}.{t.name}")


def _q(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
