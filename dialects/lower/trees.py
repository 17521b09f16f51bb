"""Small trees that several steps are made of."""

from __future__ import annotations

from sqlglot import exp

from compiler.ir.relation import (
    Aggregate,
    Filter,
    Fixpoint,
    Join,
    Keys,
    LeftJoin,
    Net,
    Project,
    Recur,
    Relation,
    Scan,
    Semi,
    State,
    Temp,
    TopK,
    Union,
    Values,
    Weigh,
    Window,
)
from compiler.ir.scalar import Col, Lit, Scalar, walk
from dialects.dialect import ident, varies


def signed(r: Relation) -> bool:
    """Whether weights may be negative in a way that reading mirrors in positive form does not mend."""
    if isinstance(r, Scan):
        return r.at == "delta"
    if isinstance(r, Temp):
        return r.signed
    if isinstance(r, State):
        return r.at == "delta"
    if isinstance(r, Weigh):
        return isinstance(r.by, Lit) or signed(r.input)
    if isinstance(r, LeftJoin | Semi):
        return signed(r.left)
    if isinstance(r, Net):
        return signed(r.input)
    if isinstance(r, Aggregate | Window | TopK | Keys | Fixpoint | Values | Recur):
        return False
    return any(signed(i) for i in r.inputs)


def added_up(r: Relation) -> Net | None:
    """Where equal rows are added up already: what does it, perhaps below a projection to the same columns."""
    while isinstance(r, Project) and {*r.exprs} == {(c.name, c) for c in r.input.schema}:
        r = r.input
    return r if isinstance(r, Net) else None


def label_of(r: Relation) -> str:
    names = {
        Join: "joined",
        LeftJoin: "outer_joined",
        Semi: "matching",
        Union: "both",
        Aggregate: "grouped",
        Project: "picked",
        Filter: "kept",
        Window: "windows",
        TopK: "limited",
    }
    return names.get(type(r), "step")


def leaf(r: Relation) -> bool:
    while isinstance(r, Project | Filter):
        r = r.input
    return isinstance(r, Scan | State | Temp | Values | Recur)


def reads(e: Scalar, name: str) -> bool:
    return any(isinstance(x, Col) and x.name == name for x in walk(e))


def table_of(schema: str, name: str, alias: str) -> exp.Expr:
    t = exp.Table(this=ident(name), db=ident(schema) if schema else None)
    if alias != name or schema:
        t.set("alias", exp.TableAlias(this=ident(alias)))
    return t


def all_of(parts: list[exp.Expr]) -> exp.Expr:
    if not parts:
        return exp.true()
    out = or_paren(parts[0])
    for p in parts[1:]:
        out = exp.And(this=out, expression=or_paren(p))
    return out


def or_paren(e: exp.Expr) -> exp.Expr:
    return exp.Paren(this=e) if isinstance(e, exp.Or) else e


def paren(e: exp.Expr) -> exp.Expr:
    return exp.Paren(this=e) if isinstance(e, (exp.Binary, exp.Case, exp.Not, exp.Is)) else e


def ordinal_safe(e: exp.Expr, i: int) -> exp.Expr:
    """A constant key would be taken for a position: name the position instead."""
    return e if varies(e) else exp.Literal.number(i + 1)


def union_all(selects: list[exp.Expr]) -> exp.Expr:
    out = selects[0]
    for s in selects[1:]:
        out = exp.Union(this=out, expression=s, distinct=False)
    return out
