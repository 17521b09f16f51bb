"""Maintenance to an engine's text: a statement with what it reads and writes, for people and for the engine."""

from __future__ import annotations

from sqlglot import exp

from compiler.catalog import mirror_name
from compiler.ir.relation import Net, Project, Relation, Scan, State, Temp, walk
from compiler.ir.scalar import Call, Col, Lit, Scalar
from compiler.ir.types import INT4, TEXT, Type, is_padded
from compiler.maintenance import Merge, Program, Statement, Step
from compiler.state import COUNT, StateDef
from dialects.dialect import Dialect, ident
from dialects.lower import WEIGHT, Lower


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


def create_state(d: Dialect, s: StateDef) -> Statement:
    body = ", ".join(f"{ident(c.name).sql(d.sqlglot)} {d.type_sql(c.type)}{d.storage(c.type)}" for c in s.columns)
    return Statement("create", s.name, f"CREATE TABLE state.{ident(s.name).sql(d.sqlglot)} ({body})", (),
                     f"state.{s.name}", f"{s.kind} by ({', '.join(s.key)})" if s.key else s.kind)


def fill_select(d: Dialect, s: StateDef) -> str:
    return d.sql(fill_tree(d, s))


def fill_tree(d: Dialect, s: StateDef) -> exp.Expr:
    """The state's contents, from the mirrors as they are."""
    lower = Lower(d, rows=True)
    if s.kind != "bag":
        return lower.query(s.definition, weight=False)
    return lower.query(Net(s.definition), weight=True)


def fill_state(d: Dialect, s: StateDef) -> Statement:
    sql = f"INSERT INTO state.{ident(s.name).sql(d.sqlglot)}\n{fill_select(d, s)}"
    return Statement("fill", s.name, sql, reads(s.definition), f"state.{s.name}", "the query over the mirrors")


def step_select(d: Dialect, s: Step) -> str:
    return d.sql(Lower(d).query(s.relation, weight=s.signed))


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
    return Lower(d).query(Project(top, tuple(exprs)), weight=False)


def merge_sql(d: Dialect, m: Merge, source: str | None = None) -> str:
    """MERGE of a change into its state, matched by null-safe equality."""
    s, q = m.state, d.sqlglot
    table = f"state.{ident(s.name).sql(q)}"
    if source is None:
        source = m.source.name if isinstance(m.source, Temp) else (
            f"(\n{d.sql(Lower(d).query(m.source, weight=False))}\n)")
    keys = s.key if s.kind != "bag" else s.definition.names
    kinds = {c.name: c.type for c in s.columns}
    on = " AND ".join(p for k in keys for p in _pairs(d, k, kinds[k], s.kind == "bag")) or "TRUE"
    names = [c.name for c in s.columns]
    quoted = [ident(n).sql(q) for n in names]
    insert = f"INSERT ({', '.join(quoted)}) VALUES ({', '.join(f'd.{n}' for n in quoted)})"
    lines = [f"MERGE INTO {table} AS s", f"USING {source} AS d", f"ON {on}"]
    values = [n for n in names if n not in keys]
    if m.how == "replace":
        sets = ", ".join(f"{ident(n).sql(q)} = d.{ident(n).sql(q)}" for n in values)
        if s.key:
            lines.append(f"WHEN MATCHED AND d.{COUNT} <= 0 THEN DELETE")
        lines.append(f"WHEN MATCHED THEN UPDATE SET {sets}")
        lines.append(f"WHEN NOT MATCHED{f' AND d.{COUNT} > 0' if s.key else ''} THEN {insert}")
        return "\n".join(lines)
    tally = WEIGHT if m.how == "bag" else COUNT
    types = {c.name: d.type_sql(c.type) for c in s.columns}
    sets = ", ".join(f"{i} = CAST(s.{i} + d.{i} AS {types[n]})" for n in values for i in [ident(n).sql(q)])
    if s.key or m.how == "bag":
        lines.append(f"WHEN MATCHED AND s.{tally} + d.{tally} = 0 THEN DELETE")
    lines.append(f"WHEN MATCHED THEN UPDATE SET {sets}")
    lines.append(f"WHEN NOT MATCHED THEN {insert}")
    return "\n".join(lines)


def _pairs(d: Dialect, key: str, kind: Type, exact: bool) -> list[str]:
    """A state's key equal to its change's; of a type that has several forms of one value, by what these have in common, or (`exact`)
    in the same form."""
    name, by = ident(key), d.sort_key(kind)

    def pair(template: str) -> str:
        s, c = (d.sql(d.template(template, [exp.Column(this=name.copy(), table=exp.to_identifier(t))]), pretty=False) for t in "sd")
        return f"({s}) {d.null_safe} ({c})"

    if by is not None and not exact:
        return [pair(by)]
    return [f"s.{name.sql(d.sqlglot)} {d.null_safe} d.{name.sql(d.sqlglot)}", *(pair(t) for t in d.forms_of(kind))]


def statements(d: Dialect, p: Program) -> list[Statement]:
    """A program as an engine with atomic transactions runs it."""
    out = []
    for s in p.steps:
        body = step_select(d, s)
        out.append(Statement("step", s.name, f"CREATE OR REPLACE TEMP TABLE {ident(s.name).sql(d.sqlglot)} AS\n{body}",
                             reads(s.relation), s.name, s.rule, s.state))
    for m in p.merges:
        out.append(Statement("merge", m.state.name, merge_sql(d, m), (*reads(m.source), f"state.{m.state.name}"),
                             f"state.{m.state.name}", m.rule, m.state.name))
    return out
