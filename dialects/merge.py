"""A state takes its change: one MERGE statement, matched by null-safe equality; a tail is appended to, or emptied."""

from __future__ import annotations

from functools import reduce
from typing import assert_never

from sqlglot import exp

from compiler.ir.types import Type
from compiler.maintain.change import Add, AddRows, Append, Change, Clear, Replace, signed, stored
from compiler.maintain.kept import COUNT, WEIGHT, Accumulated, Bag, Kept, Own, Recomputed, key_of
from dialects.dialect import Dialect, ident
from dialects.lower import lowering

OLD, NEW = "s", "d"  # the state and its change, as the statement calls them
ZERO = exp.Literal.number(0)


def taken(d: Dialect, c: Change, source: exp.Table | None = None, into: exp.Table | None = None) -> exp.Expr:
    """The statement of a change: from where it is stored, and into what has the state's rows, where these are not where
    the program says."""
    match c:
        case Append():
            return _append(d, c, source)
        case Clear():
            return exp.Delete(this=_state(c.state))
        case Add() | AddRows() | Replace():
            return _merge(d, c, source, into)
    assert_never(c)


def _state(s: Kept) -> exp.Table:
    return exp.Table(this=ident(s.name), db=exp.to_identifier("state"))


def _append(d: Dialect, c: Append, source: exp.Table | None) -> exp.Insert:
    names: list[exp.Expr] = [exp.Column(this=ident(x.name)) for x in c.state.columns]
    rows = exp.Select(expressions=names).from_(_source(d, c, source))
    return exp.Insert(this=_state(c.state), expression=rows)


def _merge(d: Dialect, c: Add | AddRows | Replace, source: exp.Table | None, into: exp.Table | None) -> exp.Merge:
    s = c.state
    return exp.Merge(
        this=exp.alias_(into if into is not None else _state(s), OLD, table=True),
        using=_source(d, c, source),
        on=_on(d, s),
        whens=exp.Whens(expressions=_whens(d, c)),
    )


def _source(d: Dialect, c: Change, at: exp.Table | None) -> exp.Expr:
    if at is None and (step := stored(c)) is not None:
        at = exp.Table(this=ident(step.name))
    if at is not None:
        return exp.alias_(at, NEW, table=True)
    return exp.Subquery(
        this=lowering(d).query(c.source, weight=signed(c)), alias=exp.TableAlias(this=exp.to_identifier(NEW))
    )


def _whens(d: Dialect, c: Add | AddRows | Replace) -> list[exp.When]:
    match c:
        case Replace():
            return _replace(c)
        case Add():
            return _add(d, c.state, COUNT, bool(c.state.key))
        case AddRows():
            return _add(d, c.state, WEIGHT, True)
    assert_never(c)


def _replace(c: Replace) -> list[exp.When]:
    """Groups take their new values; one that has no rows any more leaves, unless it is the only one there can be."""
    s = c.state
    some = exp.GT(this=_col(NEW, COUNT), expression=ZERO.copy()) if s.key else None
    none = exp.LTE(this=_col(NEW, COUNT), expression=ZERO.copy())
    sets = [exp.EQ(this=exp.Column(this=ident(n)), expression=_col(NEW, n)) for n in _values(s)]
    return [
        *([_matched(exp.Var(this="DELETE"), none)] if s.key else []),
        _matched(exp.Update(expressions=sets)),
        _insert(s, some),
    ]


def _add(d: Dialect, s: Kept, tally: str, leaves: bool) -> list[exp.When]:
    """What is there and what comes are added up; where nothing is left to count, it leaves."""
    types = {c.name: c.type for c in s.columns}
    sets = [exp.EQ(this=exp.Column(this=ident(n)), expression=d.cast(_sum(n), types[n])) for n in _values(s)]
    gone = exp.EQ(this=_sum(tally), expression=ZERO.copy())
    return [
        *([_matched(exp.Var(this="DELETE"), gone)] if leaves else []),
        _matched(exp.Update(expressions=sets)),
        _insert(s),
    ]


def _matched(then: exp.Expr, condition: exp.Expr | None = None) -> exp.When:
    return exp.When(matched=True, source=False, condition=condition, then=then)


def _insert(s: Kept, condition: exp.Expr | None = None) -> exp.When:
    names = [c.name for c in s.columns]
    into = exp.Insert(
        this=exp.Tuple(expressions=[exp.Column(this=ident(n)) for n in names]),
        expression=exp.Tuple(expressions=[_col(NEW, n) for n in names]),
    )
    return exp.When(matched=False, source=False, condition=condition, then=into)


def _values(s: Kept) -> list[str]:
    keys = key_of(s)
    return [c.name for c in s.columns if c.name not in keys]


def _col(table: str, name: str) -> exp.Column:
    return exp.Column(this=ident(name), table=exp.to_identifier(table))


def _sum(name: str) -> exp.Add:
    return exp.Add(this=_col(OLD, name), expression=_col(NEW, name))


def _on(d: Dialect, s: Own) -> exp.Expr:
    types = {c.name: c.type for c in s.columns}
    pairs = [p for k in key_of(s) for p in _pairs(d, k, types[k], _exact(s))]
    return reduce(lambda a, b: exp.And(this=a, expression=b), pairs) if pairs else exp.true()


def _exact(s: Own) -> bool:
    """Whether rows that are equal in another form are rows of their own."""
    match s:
        case Accumulated() | Recomputed():
            return False
        case Bag():
            return True
    assert_never(s)


def _pairs(d: Dialect, key: str, kind: Type, exact: bool) -> list[exp.Expr]:
    """A state's key equal to its change's; of a type that has several forms of one value, by what these have in
    common, or (`exact`) in the same form."""
    by = d.sort_key(kind)

    def same(template: str | None) -> exp.Expr:
        old, new = (
            _col(t, key) if template is None else exp.Paren(this=d.template(template, [_col(t, key)]))
            for t in (OLD, NEW)
        )
        return exp.NullSafeEQ(this=old, expression=new)

    if by is not None and not exact:
        return [same(by)]
    return [same(None), *map(same, d.forms_of(kind))]
