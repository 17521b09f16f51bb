"""LIKE, SIMILAR TO and regular expressions, alone or of ANY and ALL of a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from compiler.bind.clause import Binding, Clause
from compiler.bind.coerce import padded
from compiler.bind.similar import regex_of
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.ir.relation import Project, Relation, Unnest, Values
from compiler.ir.scalar import Call, Col, Lit, Outer, Scalar, case, cast, conj, is_null, negate, transform, walk
from compiler.ir.subquery import AnySub, Sub
from compiler.ir.types import BOOL, TEXT
from compiler.opaque import is_opaque

NAMES = {
    exp.Like: "like",
    exp.ILike: "ilike",
    exp.RegexpLike: "regex",
    exp.RegexpILike: "iregex",
    exp.SimilarTo: "similar",
}


def pattern(x: Binding, e: Any, c: Clause) -> Scalar:
    fn, negated = NAMES[type(e)], bool(e.args.get("negate"))
    right, escape = e.expression, None
    if isinstance(right, exp.Escape):
        right, escape = right.this, right.expression.this
    value = x.bind(e.this, c)
    if is_opaque(value.type):
        raise InvalidSql(f"operator does not exist: {value.type} {fn} text", code="undefined_operator")
    text = cast(padded(value), TEXT)
    if isinstance(right, (exp.Any, exp.All)):
        return _of_list(x, fn, text, right, negated, c)
    got = _one(x, fn, text, right, escape, c)
    return negate(got) if negated else got


def _of_list(x: Binding, fn: str, text: Scalar, right: exp.Expr, negated: bool, c: Clause) -> Scalar:
    """ANY is one of the list, ALL every one; NOT belongs to each."""
    items = right.this.unnest()
    if isinstance(items, exp.Query) and fn != "similar":
        return _of_query(x, fn, text, x.subquery(items, c.around), negated, isinstance(right, exp.All))
    if (
        not isinstance(items, exp.Query | exp.Array)
        and fn != "similar"
        and (patterns := x.bind(items, c)).type.name == "array"
    ):
        return _of_array(x, fn, text, patterns, negated, isinstance(right, exp.All))
    if not isinstance(items, exp.Array) or not items.expressions:
        raise UnsupportedSql(
            f"{fn.upper()} {right.key.upper()} of what is not a list is not supported",
            code="unsupported_syntax",
            hint="Write the alternatives with OR.",
        )
    parts = [_one(x, fn, text, i, None, c) for i in items.expressions]
    parts = [negate(p) for p in parts] if negated else parts
    if isinstance(right, exp.All):
        return conj(parts)
    return Call("or", tuple(parts), BOOL) if len(parts) > 1 else parts[0]


def _of_array(x: Binding, fn: str, text: Scalar, patterns: Scalar, negated: bool, every: bool) -> Scalar:
    """The outcomes for the elements: TRUE is one of them, or with ALL, FALSE is none of them."""
    if any(isinstance(n, Sub) for e in (text, patterns) for n in walk(e)):
        raise UnsupportedSql(
            f"{fn.upper()} ANY of an array, of a subquery, is not supported",
            code="unsupported_syntax",
            hint="Take the subquery in FROM.",
        )
    theirs = transform(patterns, lambda n: Outer(n.name, n.type) if isinstance(n, Col) else None)
    items = Unnest(Values((), ((),)), "unnest", (theirs,), (Col(x.binder.fresh("pattern"), TEXT),), None)
    return case([(is_null(patterns), Lit(None, BOOL))], _of_query(x, fn, text, items, negated, every), BOOL)


def _of_query(x: Binding, fn: str, text: Scalar, patterns: Relation, negated: bool, every: bool) -> Scalar:
    """The outcomes for the patterns in a relation's one column."""
    if any(isinstance(n, Sub) for n in walk(text)):
        raise UnsupportedSql(
            f"{fn.upper()} ANY of a subquery is not supported for a subquery",
            code="unsupported_syntax",
            hint="Take one of them in FROM.",
        )
    mine = transform(text, lambda n: Outer(n.name, n.type) if isinstance(n, Col) else None)
    holds: Scalar = Call(fn, (mine, cast(padded(patterns.schema[0]), TEXT)), BOOL)
    outcomes = Project(patterns, ((x.binder.fresh("holds"), negate(holds) if negated else holds),))
    found: Scalar = AnySub(outcomes, (Lit(not every, BOOL),), "=")
    return negate(found) if every else found


def _one(x: Binding, fn: str, text: Scalar, right: exp.Expr, escape: str | None, c: Clause) -> Scalar:
    if fn == "similar":
        if not isinstance(right, exp.Literal):
            raise UnsupportedSql(
                "SIMILAR TO with a pattern that is not a constant is not supported", code="unsupported_syntax"
            )
        return Call("regex", (text, Lit(regex_of(right.this, escape if escape is not None else "\\"), TEXT)), BOOL)
    args = [text, cast(x.bind(right, c), TEXT)] + ([Lit(escape, TEXT)] if escape is not None else [])
    return Call(fn, tuple(args), BOOL)


def escaped(x: Binding, e: Any, c: Clause) -> Scalar:
    """… LIKE … ESCAPE …, where NOT may stand inside."""
    inner = e.this.copy()
    negated = isinstance(inner, exp.Not)
    got = x.bind(inner.this if negated else inner, c)
    flip = isinstance(got, Call) and got.fn == "not"
    base = got.children[0] if flip else got
    assert isinstance(base, Call)
    out: Scalar = Call(base.fn, (*base.args, Lit(e.expression.this, TEXT)), BOOL)
    return negate(out) if flip != negated else out


METHODS: dict[type, Callable[..., Scalar]] = {**dict.fromkeys(NAMES, pattern), exp.Escape: escaped}
