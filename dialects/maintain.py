"""Maintenance to an engine's text: a statement with what it reads and writes, for people and for the engine."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from sqlglot import exp

from compiler.catalog import mirror_name
from compiler.ir.relation import Net, Project, Relation, Scan, State, Temp, walk
from compiler.ir.scalar import Call, Col, Lit, Scalar
from compiler.ir.types import INT4, TEXT, is_padded
from compiler.maintain.change import Add, AddRows, Append, Change, Clear, Replace
from compiler.maintain.kept import Accumulated, Bag, Kept, Log, Recomputed, describe, own
from compiler.maintain.program import Does, Fetch, Program, Statement, Step
from compiler.maintain.void import NEVER, Void, void
from compiler.simplify.prune import prune
from dialects.dialect import Dialect, ident
from dialects.lower import lowering
from dialects.merge import taken


def reads(r: Relation) -> tuple[str, ...]:
    """What a relation reads, with its time, in the words of the design."""
    out: dict[str, None] = {}
    for n in walk(r):
        if isinstance(n, Scan):
            out[f"{n.at}.{mirror_name(n.table)}"] = None
        elif isinstance(n, State):
            out[f"state.{n.name}"] = None
        elif isinstance(n, Temp):
            out[n.name] = None
    return tuple(out)


def create_state(d: Dialect, s: Kept) -> Statement:
    body = ", ".join(f"{ident(c.name).sql(d.sqlglot)} {d.type_sql(c.type)}{d.storage(c.type)}" for c in s.columns)
    return Statement(
        Does.CREATE,
        s.name,
        f"CREATE TABLE state.{ident(s.name).sql(d.sqlglot)} ({body})",
        (),
        f"state.{s.name}",
        describe(s),
    )


def fill_select(d: Dialect, s: Kept) -> str:
    return d.sql(fill_tree(d, s))


def fill_tree(d: Dialect, s: Kept) -> exp.Expr:
    """The state's contents, from the mirrors as they are, which have no columns that nobody reads."""
    match s:
        case Bag():
            return lowering(d, rows=True).query(prune(Net(s.definition)), weight=True)
        case Accumulated() | Recomputed() | Log():
            return lowering(d, rows=True).query(prune(s.definition), weight=False)
    assert_never(s)


def fill_state(d: Dialect, s: Kept) -> Statement:
    query = fill_select(d, s)
    sql = f"INSERT INTO state.{ident(s.name).sql(d.sqlglot)}\n{query}"
    rule = "the query over the mirrors"
    return Statement(Does.FILL, s.name, sql, reads(s.definition), f"state.{s.name}", rule, query=query)


def refill_state(d: Dialect, s: Kept) -> list[Statement]:
    """A state emptied, and filled from the mirrors as they are."""
    name = f"state.{s.name}"
    sql = d.sql(exp.Delete(this=exp.Table(this=ident(s.name), db=exp.to_identifier("state"))))
    emptied = Statement(Does.CLEAR, s.name, sql, (), name, "filled anew", s.name)
    return [emptied, *(replace(fill_state(d, x), state=x.name) for x in own([s]))]


def step_select(d: Dialect, s: Step) -> str:
    return d.sql(lowering(d).query(s.relation, weight=s.signed))


def fetch_of(d: Dialect, s: Step) -> Fetch | None:
    """What a fetch asks for, its keys as a query with the columns _k0, _k1, …; nothing of rows with weights."""
    if s.lookup is None or s.signed:
        return None
    keys = d.sql(lowering(d).query(s.lookup.keys, weight=False), pretty=False)
    names = tuple(c.name for c in s.relation.schema)
    return Fetch(mirror_name(s.lookup.table), s.lookup.columns, names, keys, reads(s.lookup.keys))


def read_select(d: Dialect, top: Relation, outputs: list[tuple[str, Col]]) -> str:
    return d.sql(read_tree(d, top, outputs))


def read_tree(d: Dialect, top: Relation, outputs: list[tuple[str, Col]]) -> exp.Expr:
    """The query that reads a view from its states, columns under the names and in the order of the view."""
    exprs: list[tuple[str, Scalar]] = []
    for name, c in outputs:
        e: Scalar = c
        if is_padded(e.type):
            e = Call("rpad", (Call("cast", (e,), TEXT), Lit(e.type.precision, INT4), Lit(" ", TEXT)), TEXT)
        elif e.type.name == "array" and e.type.element is not None and is_padded(e.type.element):
            e = Call("array_padded", (e,), e.type)
        exprs.append((name, e))
    return lowering(d).query(Project(top, tuple(exprs)), weight=False)


def statements(d: Dialect, p: Program) -> list[Statement]:
    """A program as an engine with atomic transactions runs it."""
    out = [_standing_for(d, table, rows, p.taker) for table, rows in p.waiting.items()]
    for s in p.steps:
        body = step_select(d, s)
        out.append(
            Statement(
                Does.STEP if s.lookup is None else Does.FETCH,
                s.name,
                f"CREATE OR REPLACE TEMP TABLE {ident(s.name).sql(d.sqlglot)} AS\n{body}",
                reads(s.relation),
                s.name,
                s.rule,
                s.state,
                fetch_of(d, s),
                void(s.relation),
                query=body,
            )
        )
    for c in p.changes:
        state = f"state.{c.state.name}"
        does, tree = _does(c), taken(d, c)
        query = d.sql(tree.expression) if isinstance(tree, exp.Insert) else ""
        sql = f"INSERT INTO {d.sql(tree.this)}\n{query}" if query else d.sql(tree)
        reading = (*reads(c.source), *([state] if does is Does.MERGE else []))
        name, idle = c.state.name, _idle(c)
        out.append(Statement(does, name, sql, reading, state, c.rule, name, void=idle, change=c, query=query))
    return out


def _standing_for(d: Dialect, table: str, rows: Relation, taker: str) -> Statement:
    """What waits of a table, in the place of a batch's rows."""
    body = d.sql(lowering(d).query(rows, weight=True))
    written = f"batch_{mirror_name(table)}"
    sql = f"CREATE OR REPLACE TEMP TABLE {ident(written).sql(d.sqlglot)} AS\n{body}"
    rule = "what waits, in place of a batch"
    return Statement(Does.STEP, f"delta.{mirror_name(table)}", sql, reads(rows), written, rule, taker, query=body)


def _idle(c: Change) -> Void:
    """What has to be empty for a change to do nothing."""
    match c:
        case Clear():
            return NEVER
        case Add() | AddRows() | Replace() | Append():
            return void(c.source)
    assert_never(c)


def _does(c: Change) -> Does:
    match c:
        case Append():
            return Does.APPEND
        case Clear():
            return Does.CLEAR
        case Add() | AddRows() | Replace():
            return Does.MERGE
    assert_never(c)
