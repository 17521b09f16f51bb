"""rank(v) WITHIN GROUP (ORDER BY x) and its kin: the place a row would have, from counts of the rows around it.

https://www.postgresql.org/docs/current/functions-aggregate.html, hypothetical-set aggregates.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from compiler.bind.aggregates import call_of
from compiler.errors import UnsupportedSql

NAMES = {"rank", "dense_rank", "percent_rank", "cume_dist"}


def counts(e: Any) -> exp.Expr | None:
    """The call as an expression over counts; None for anything else."""
    keep = e.expression.this if isinstance(e, exp.Filter) else None
    call = call_of(e)
    if not isinstance(call, exp.WithinGroup) or str(call.this.this).lower() not in NAMES:
        return None
    name = str(call.this.this).lower()
    order = call.expression.expressions
    if len(order) != 1 or len(call.this.expressions) != 1:
        raise UnsupportedSql(f"{name} WITHIN GROUP of several columns is not supported", code="unsupported_function")
    by, value = order[0], call.this.expressions[0]
    around = e.find_ancestor(exp.Select)
    group = around.args.get("group") if around is not None else None
    if value.find(exp.Column) and group is not None and group.find(exp.Rollup, exp.Cube, exp.GroupingSets):
        raise UnsupportedSql(
            f"{name} WITHIN GROUP of a value that is grouped by, over several grouping sets, is not supported",
            code="unsupported_function",
            hint="Write a constant, or one query a set.",
        )
    column, desc = (by.this, bool(by.args.get("desc"))) if isinstance(by, exp.Ordered) else (by, False)
    nulls_first = by.args.get("nulls_first") if isinstance(by, exp.Ordered) else None
    nulls_first = desc if nulls_first is None else bool(nulls_first)
    before = earlier(column, value, desc, nulls_first)

    def count(*conditions: exp.Expr, counted: exp.Expr | None = None) -> exp.Expr:
        found: exp.Expr = exp.Anonymous(this="count", expressions=[counted if counted is not None else exp.Star()])
        every = [c.copy() for c in (*conditions, *([keep] if keep is not None else []))]
        return exp.Filter(this=found, expression=exp.Where(this=exp.and_(*every))) if every else found

    one = exp.Literal.number(1)
    if name == "rank":
        return exp.Paren(this=exp.Add(this=count(before), expression=one))
    if name == "dense_rank":
        distinct = exp.Distinct(expressions=[column.copy()])
        some = exp.Case(
            ifs=[
                exp.If(
                    this=exp.GT(
                        this=count(before, exp.Is(this=column.copy(), expression=exp.Null())),
                        expression=exp.Literal.number(0),
                    ),
                    true=one.copy(),
                )
            ],
            default=exp.Literal.number(0),
        )
        return exp.Paren(
            this=exp.Add(this=exp.Add(this=count(before, counted=distinct), expression=some), expression=one)
        )
    if name == "percent_rank":
        share = exp.Div(
            this=_float(count(before)),
            expression=exp.Anonymous(this="nullif", expressions=[count(), exp.Literal.number(0)]),
        )
        return exp.Anonymous(this="coalesce", expressions=[share, _float(exp.Literal.number(0))])
    same = exp.NullSafeEQ(this=column.copy(), expression=value.copy())
    upto = exp.Paren(
        this=exp.Add(this=count(exp.Paren(this=exp.Or(this=before.copy(), expression=same))), expression=one)
    )
    return exp.Div(this=_float(upto), expression=exp.Paren(this=exp.Add(this=count(), expression=one.copy())))


def _float(e: exp.Expr) -> exp.Expr:
    return exp.Cast(this=e, to=exp.DataType.build("double precision", dialect="postgres"))


def earlier(column: exp.Expr, value: exp.Expr, desc: bool, nulls_first: bool) -> exp.Expr:
    """Whether a row's value comes strictly before the given one."""
    compare = (exp.GT if desc else exp.LT)(this=column.copy(), expression=value.copy())
    null, value_null = (exp.Is(this=x.copy(), expression=exp.Null()) for x in (column, value))
    if nulls_first:
        return exp.Paren(this=exp.Or(this=compare, expression=exp.And(this=null, expression=exp.Not(this=value_null))))
    return exp.Paren(this=exp.Or(this=compare, expression=exp.And(this=value_null, expression=exp.Not(this=null))))
