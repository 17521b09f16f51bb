"""Conditions of joins: where they stand when both sides are joins, and which of them are no way to join."""

from __future__ import annotations

from sqlglot import exp

from dialects.lower.trees import all_of

EQUALITIES = (exp.EQ, exp.NullSafeEQ)
COMPARISONS = (exp.LT, exp.LTE, exp.GT, exp.GTE)


def tables_of(*sources: exp.Expr) -> set[str]:
    """The names that columns of these sources, or of joins with them, are qualified by."""
    return {(s.this if isinstance(s, exp.Join) else s).alias_or_name for s in sources}


def placed(joins: list[exp.Expr], on: list[exp.Expr], seen: set[str]) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """The joins with those of the conditions `on` that inner joins of tables can take, and the conditions that are
    left.

    `seen`: the tables before them. Semi, anti and left joins keep their own conditions: they find the same rows after
    an inner join as before it. An engine that does not look for conditions behind them would take the product.
    """
    out: list[exp.Expr] = []
    for j in joins:
        seen = seen | tables_of(j)
        inner = isinstance(j, exp.Join) and isinstance(j.this, exp.Table) and not j.side and j.kind in ("", "CROSS")
        in_scope = [c for c in on if _in_scope(c, seen)] if inner else []
        if in_scope:
            on = [c for c in on if not any(c is x for x in in_scope)]
            old = [j.args["on"]] if j.args.get("on") is not None else []
            j = exp.Join(this=j.this, on=all_of([*old, *in_scope]))
        out.append(j)
    return out, on


def _in_scope(condition: exp.Expr, seen: set[str]) -> bool:
    columns = list(condition.find_all(exp.Column))
    return bool(columns) and not condition.find(exp.Query) and all(c.table in seen for c in columns)


def unjoined(j: exp.Expr) -> exp.Expr:
    """An inner join whose ON has <> or compares what it computes, beside other conditions, with it as a filter of
    what these leave."""
    on = j.args.get("on") if isinstance(j, exp.Join) and not j.side and j.kind in ("", "INNER") else None
    if not isinstance(on, exp.And) or not isinstance(j, exp.Join):
        return j
    parts = list(on.flatten())
    if any(
        isinstance(c, EQUALITIES) and _tables(c) > 1 for c in parts
    ):  # or it computes them for every row of the larger side
        parts = [_filter(c) if isinstance(c, COMPARISONS) and _tables(c) > 1 and not _plain(c) else c for c in parts]
    return exp.Join(this=j.this, kind=j.kind or None, on=all_of(filtering(parts)))


def _tables(condition: exp.Expr) -> int:
    return len({x.table for x in condition.find_all(exp.Column)})


def _plain(comparison: exp.Expr) -> bool:
    return isinstance(comparison.this, exp.Column) and isinstance(comparison.expression, exp.Column)


def _filter(condition: exp.Expr) -> exp.Expr:
    return exp.Is(this=exp.Paren(this=condition), expression=exp.true())


def filtering(conditions: list[exp.Expr]) -> list[exp.Expr]:
    """Conditions, of which those that two tables are unequal cannot be taken for edges between them."""
    return [_filter(c) if isinstance(c, exp.NEQ) and _tables(c) > 1 else c for c in conditions]
