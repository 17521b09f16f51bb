"""What names mean at a point of a query: sources of FROM, columns joined by USING, enclosing queries, CTEs."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field

from compiler.catalog import Catalog, Table
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.ir.relation import Agg, Order, Relation
from compiler.ir.scalar import Col, Outer, Scalar, transform

PRESENT = "row is present"  # a name for what has none in SQL


@dataclass
class Source:
    """One FROM item: its alias and columns; `hidden` ones were merged by USING."""

    alias: str
    columns: list[tuple[str, Col]]
    table: Table | None = None
    hidden: set[str] = field(default_factory=set)
    padded: bool = False  # by an outer join: its row may be NULL as a whole
    present: Col | None = (
        None  # true in its rows, NULL where an outer join found none; made where whole rows are asked for
    )
    row: tuple[str, ...] = ()  # the table's own names of columns that the alias renames: its row as a value keeps them
    scalar: bool = False  # a function of one value: its alias names that value
    schema: str = ""  # of a table without an alias, which alone can be named with it

    def is_named(self, table: str | None, schema: str | None = None) -> bool:
        """Whether a column with this before it may be one of its own."""
        return table in (None, self.alias) and schema in (None, self.schema)

    @property
    def unsaid(self) -> str | None:
        """A generated column of the table that cannot be computed here."""
        there = {*(n for n, _ in self.columns), *self.row}
        return next((g for g in self.table.generated if g not in there), None) if self.table is not None else None


@dataclass
class Scope:
    """Sources a query's expressions can name, and those of the queries around it; where a subquery stands, `aggs` are
    the aggregates collected there (None: not allowed)."""

    sources: list[Source] = field(default_factory=list)
    parent: Scope | None = None
    merged: dict[str, Scalar] = field(default_factory=dict)
    aggs: dict[Agg, Col] | None = None
    shown: list[tuple[str, Scalar]] = field(default_factory=list)  # what * stands for
    order: tuple[Order, ...] = ()  # that of the one subquery it reads

    def resolve(self, table: str | None, name: str, schema: str | None = None) -> Scalar:
        """A column of this query as `Col`, of an enclosing one as `Outer`; raises InvalidSql. Columns go before
        aliases."""
        for find in (Scope.local, Scope.named):
            scope: Scope | None = self
            while scope is not None:
                if (found := find(scope, table, name, schema)) is not None:
                    if scope is self:
                        return found
                    return transform(found, lambda n: Outer(n.name, n.type) if isinstance(n, Col) else None)
                scope = scope.parent
        raise self._unknown(table, name, schema)

    def named(self, table: str | None, name: str, schema: str | None = None) -> Scalar | None:
        """The value of a function of one value, by its alias; whether a row is there."""
        if name == PRESENT:
            return next((s.present for s in self.sources if s.alias == table), None)
        return (
            next((s.columns[0][1] for s in self.sources if s.scalar and s.alias == name), None)
            if table is None
            else None
        )

    def is_column(self, name: str) -> bool:
        """Whether a bare name is a column here or around."""
        return self.local(None, name) is not None or (self.parent is not None and self.parent.is_column(name))

    def local(self, table: str | None, name: str, schema: str | None = None) -> Scalar | None:
        """The column of this query alone by its name, or None where there is none. Raises InvalidSql where it is
        ambiguous."""
        if table is None and name in self.merged:
            return self.merged[name]
        hits = [
            c
            for s in self.sources
            if s.is_named(table, schema)
            for n, c in s.columns
            if n == name and (table is not None or n not in s.hidden)
        ]
        if len(hits) > 1:
            raise InvalidSql(
                f'column reference "{name}" is ambiguous',
                code="ambiguous_column",
                hint="Qualify it with a table name or alias.",
            )
        return hits[0] if hits else None

    def find(self, alias: str, schema: str | None = None) -> tuple[Source, list[tuple[str, Scalar]]] | None:
        """The nearest source of that alias, here or around, and its columns as they are seen from here."""
        scope: Scope | None = self
        while scope is not None:
            for s in scope.sources:
                if s.is_named(alias, schema):
                    return s, [(n, c if scope is self else Outer(c.name, c.type)) for n, c in s.columns]
            scope = scope.parent
        return None

    def has_source(self, alias: str, schema: str | None = None) -> bool:
        return any(s.is_named(alias, schema) for s in self.sources) or (
            self.parent is not None and self.parent.has_source(alias, schema)
        )

    def _unknown(self, table: str | None, name: str, schema: str | None) -> InvalidSql | UnsupportedSql:
        if table is not None and not self.has_source(table, schema):
            other = schema is not None and self.has_source(table)
            return InvalidSql(
                f'{"invalid reference to" if other else "missing"} FROM-clause entry for table "{table}"',
                code="undefined_table",
                hint=f"A table with an alias is named by that alone, and {schema}.{table} is another." if other else "",
            )
        if any(s.table is not None and name in s.table.generated for s in self.sources if s.is_named(table, schema)):
            return InvalidSql(
                f'column "{name}" is generated, and its expression is not supported',
                code="generated_column",
                detail="Postgres does not replicate it.",
                hint="Compute it in the view, from the columns that it is made of.",
            )
        if table is None and self.has_source(name):
            return UnsupportedSql(
                f'the whole row of "{name}" as a value is not supported here',
                code="unsupported_syntax",
                hint=f"Name its columns, or take it as to_jsonb({name}).",
            )
        in_sight = [n for s in self.sources if s.is_named(table, schema) for n, _ in s.columns]
        near = difflib.get_close_matches(name, in_sight, 1)
        full = f"{table}.{name}" if table else name
        return InvalidSql(
            f'column "{full}" does not exist',
            code="undefined_column",
            hint=f'Perhaps you meant "{near[0]}".' if near else "",
        )


@dataclass
class Bound:
    """A bound query: the relation and its output columns by their SQL names. `ordered`: the relation with the
    columns its ORDER BY needs, and that order, which a query that reads nothing else goes by where it has none of
    its own."""

    rel: Relation
    outputs: list[tuple[str, Col]]
    ordered: tuple[Relation, tuple[Order, ...]] | None = None
    table: str = ""  # of a table, its name


@dataclass(frozen=True)
class Env:
    """What is around a query: the catalog, other views, and the CTEs in sight."""

    catalog: Catalog
    ctes: dict[str, Bound] = field(default_factory=dict)
