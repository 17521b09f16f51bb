"""A table's name where a value is expected: its whole row. (t).a, count(t), json_agg(t)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from compiler.bind import composites, json_values
from compiler.bind.aggregates import call_of
from compiler.bind.clause import Binding, Clause
from compiler.bind.names import schema_of
from compiler.bind.scope import PRESENT, Source
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.ir.scalar import Scalar, case, is_null, null
from compiler.ir.types import Type


def source_named(e: Any, c: Clause) -> tuple[Source, list[tuple[str, Scalar]]] | None:
    """The source that a bare name or `name.*` stands for, with its columns; None when it is a column or anything
    else."""
    if not isinstance(e, exp.Column):
        return None
    alias = e.args.get("table") if isinstance(e.this, exp.Star) else e.this if e.args.get("table") is None else None
    if not isinstance(alias, exp.Identifier):
        return None
    name = alias.this if alias.args.get("quoted") else alias.this.lower()
    if alias is e.this and c.scope.is_column(name):
        return None
    found = c.scope.find(name, schema_of(e))
    return found if found is not None and not found[0].scalar else None


def columns(e: Any, c: Clause) -> list[tuple[str, Scalar]]:
    """The columns of the table that a bare name or name.* stands for; none for anything else."""
    if (named := source_named(e, c)) is None:
        return []
    found, own = named
    if (unsaid := found.unsaid) is not None:
        raise UnsupportedSql(
            f'the row of "{found.alias}" holds the generated column "{unsaid}", whose expression is not supported',
            code="generated_column",
            detail="Postgres does not replicate it.",
            hint="Name the columns.",
        )
    return [(n, col) for n, (_, col) in zip(found.row, own, strict=True)] if found.row else own


def asked_for(query: exp.Expr) -> set[str]:
    """Names that stand for whole rows in a query, if they are not columns'."""
    found = (
        n.args.get("table") if isinstance(n.this, exp.Star) else n.this
        for n in query.find_all(exp.Column)
        if isinstance(n.this, exp.Star) or n.args.get("table") is None
    )
    return {i.this if i.args.get("quoted") else i.this.lower() for i in found if isinstance(i, exp.Identifier)}


def certain(source: Source) -> str | None:
    """A column that is never NULL in the source's rows."""
    names = [] if source.table is None else [*source.table.key, *(x.name for x in source.table.columns if x.not_null)]
    return names[0] if names else PRESENT if source.present is not None else None


def _witness(source: Source) -> str:
    """The column that tells the rows there are from those an outer join did not find."""
    if (name := certain(source)) is None:
        raise UnsupportedSql(
            f"the rows of the function {source.alias} as a whole, where an outer join may find none, are not supported",
            code="unsupported_syntax",
            hint="Name a column that is never NULL.",
        )
    return name


def row_as_json(kind: Type, e: Any, c: Clause) -> Scalar | None:
    """The row of a table as an object, NULL where an outer join found none; None for anything else."""
    whole = columns(e, c)
    if not whole:
        return None
    row, named = json_values.row(kind, whole), source_named(e, c)
    if named is None or not named[0].padded:
        return row
    source = named[0]
    name = _witness(source)
    there = c.scope.resolve(source.alias, name)
    return case([(is_null(there), null(kind))], row, kind)


def counted(e: Any, c: Clause) -> Any:
    """count(t) and count(t.*) count the rows that are there: those whose key is, or another column that is never
    NULL."""
    call = call_of(e)
    if not isinstance(call, exp.Anonymous) or str(call.this).lower() != "count" or len(call.expressions) != 1:
        return e
    named = source_named(call.expressions[0], c)
    if named is None:
        return e
    source = named[0]
    name = _witness(source) if source.padded else None
    e = e.copy()
    what = (
        exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(source.alias, quoted=True))
        if name
        else exp.Star()
    )
    call_of(e).set("expressions", [what])
    return e


def as_json(e: Any, c: Clause) -> Any:
    """json_agg and json_object_agg of a table's name aggregate its rows as objects."""
    call = call_of(e)
    kinds = json_values.AGGREGATES | json_values.OBJECTS
    if not isinstance(call, exp.Anonymous) or str(call.this).lower() not in kinds or not call.expressions:
        return e

    def argument(call: Any) -> Any:
        return call.expressions[-1].this if isinstance(call.expressions[-1], exp.Order) else call.expressions[-1]

    if not columns(argument(call), c):
        return e
    e = e.copy()
    arg = argument(call_of(e))
    call_of(e).meta["rows"] = True
    arg.replace(exp.Anonymous(this=f"to_{kinds[str(call.this).lower()].name}", expressions=[arg.copy()]))
    return e


def field(x: Binding, e: Any, c: Clause) -> Scalar:
    """(t).a: a column of a table's row, or a field of a composite value."""
    row = e.this.unnest()
    found = dict(columns(row, c))
    value = None if found else x.bind(row, c)
    if not isinstance(e.expression, exp.Identifier) or (value is not None and not composites.is_composite(value.type)):
        raise UnsupportedSql(
            "a field of such a value is not supported", code="unsupported_syntax", detail=e.sql("postgres")[:200]
        )
    name = e.expression.this if e.expression.args.get("quoted") else e.expression.this.lower()
    if value is not None:
        return composites.field(value, name)
    if name not in found:
        raise InvalidSql(f'column "{name}" not found in data type {row.name}', code="undefined_column")
    return found[name]


def every_field(x: Binding, e: Any, c: Clause) -> list[tuple[str, Scalar]]:
    """(t).*: the columns of a table's row, or the fields of a composite value."""
    row = e.this.unnest()
    if found := columns(row, c):
        return found
    value = x.bind(row, c)
    if not composites.is_composite(value.type):
        raise UnsupportedSql(
            ".* of such a value is not supported", code="unsupported_syntax", detail=e.sql("postgres")[:200]
        )
    return composites.fields(value)


METHODS: dict[type, Callable[..., Scalar]] = {exp.Dot: field}
