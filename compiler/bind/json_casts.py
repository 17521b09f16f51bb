"""json that a view makes and casts to jsonb is made as jsonb: a json value as it is written keeps the order of its
keys and its blanks."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

AS_JSONB = {
    "json_build_object": "jsonb_build_object",
    "json_build_array": "jsonb_build_array",
    "json_agg": "jsonb_agg",
    "json_object_agg": "jsonb_object_agg",
    "to_json": "to_jsonb",
    "row_to_json": "to_jsonb",
    "array_to_json": "to_jsonb",
}


def as_jsonb(e: Any) -> Any:
    """The expression with jsonb in the place of the json it makes; None where it takes json from elsewhere."""
    if isinstance(e, exp.Paren | exp.Filter | exp.Window):
        inner = as_jsonb(e.this)
        return None if inner is None else _with(e, inner)
    if isinstance(e, exp.Subquery) and isinstance(e.this, exp.Select) and len(e.this.expressions) == 1:
        return _of_query(e)
    if isinstance(e, exp.Cast) and isinstance(e.this, exp.Literal) and e.to.is_type("json"):
        return exp.Cast(this=e.this.copy(), to=exp.DataType.build("jsonb", dialect="postgres"))
    if not isinstance(e, exp.Anonymous):
        return e.copy() if isinstance(e, exp.Null) else None
    name = str(e.this).lower()
    if name in AS_JSONB:
        return exp.Anonymous(this=AS_JSONB[name], expressions=[_within(a) for a in e.expressions])
    if name == "coalesce":
        args = [as_jsonb(a) for a in e.expressions]
        return None if any(a is None for a in args) else exp.Anonymous(this=e.this, expressions=args)
    return None


def _with(e: Any, inner: Any) -> Any:
    out = e.copy()
    out.set("this", inner)
    return out


def _within(a: Any) -> Any:
    """An argument, with what json it makes; of an aggregate's with its ORDER BY."""
    if isinstance(a, exp.Order):
        return _with(a, _within(a.this))
    built = as_jsonb(a)
    return a.copy() if built is None else built


def _of_query(e: Any) -> Any:
    out = e.copy()
    (column,) = out.this.expressions
    built = as_jsonb(column.this if isinstance(column, exp.Alias) else column)
    if built is None:
        return None
    if isinstance(column, exp.Alias):
        column.set("this", built)
    else:
        out.this.set("expressions", [built])
    return out
