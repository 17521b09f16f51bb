"""Source tables that are no longer what was deployed, as the stream or the catalog tells it."""

from __future__ import annotations

from dataclasses import replace

from compiler.catalog import Column, Generated, Table
from compiler.errors import TidemarkError
from connectors.postgres.pgoutput import RelationMessage

TEXTS = {25, 1043}  # the oids of text and varchar
AGAIN = "Run: tidemark deploy"


class TableChanged(TidemarkError):
    """The source's table is no longer the one that was deployed.

    `table` is the one that is concerned, and `columns` those of its columns that are: none where all of it is.
    Without a table nothing can go on. `received` are the table's columns as the stream had them, where it was the
    stream that showed the change. `labels` are all of the columns' enum, where it was given more and has those that it
    had: the columns are what they were. `called` is the column's name by now, where it was renamed and nothing else;
    `table_called` is the table's schema and name. `told_by_name`: the stream has the table under a name that is not
    known to be one of its. `between`: schema and name that it had for a while, as the stream showed.
    `expressions`: what is left of its generated columns, where that is all that was altered.
    """

    table: Table | None = None
    columns: tuple[str, ...] = ()
    received: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    called: str = ""
    table_called: tuple[str, str] | None = None
    told_by_name: bool = False
    between: tuple[str, ...] = ()
    expressions: tuple[Generated, ...] | None = None

    @property
    def renamed(self) -> bool:
        """Whether it is no more than another name."""
        return bool(self.called) or self.table_called is not None


def changed(t: Table, message: str, detail: str, hint: str = AGAIN, columns: tuple[str, ...] = ()) -> TableChanged:
    """The error for a table, or for columns of it."""
    error = TableChanged(message, code="table_changed", detail=detail, hint=hint)
    error.table, error.columns = t, columns
    return error


def check_identity(table: Table, relations: list[RelationMessage]) -> None:
    """Old images that are keys have to be the key the mirror is looked up by; whole ones hold every key."""
    for r in relations:
        sent = {n for n, k in zip(r.columns, r.keys, strict=True) if k}
        if r.identity != "f" and sent != set(table.identity_key):
            raise changed(
                table,
                f'the replica identity of "{table.schema}.{table.name}" was altered',
                f"Its changes now name rows by ({', '.join(sorted(sent))}), not by ({', '.join(table.identity_key)}).",
                "Set it back, or run: tidemark deploy",
            )


def check_columns(table: Table, r: RelationMessage, but: frozenset[str] = frozenset()) -> None:
    """Raises TableChanged for columns that went away, have another type or another name; `but` are not looked at."""
    columns = [c for c in table.columns if c.name not in but]
    missing = tuple(c.name for c in columns if c.name not in r.columns)
    if missing:
        raise _with_received(gone(table, missing), r)
    order = [r.columns.index(c.name) for c in columns]
    for c, i in zip(columns, order, strict=True):
        if r.types and not same_type(c, *r.types[i]):
            raise _with_received(retyped(table, c), r)
    if order != sorted(order):
        crossed = tuple(
            c.name
            for i, c in enumerate(columns)
            if any(order[j] > order[i] for j in range(i)) or any(order[j] < order[i] for j in range(i, len(order)))
        )
        raise _with_received(
            changed(
                table,
                f'columns of table "{table.schema}.{table.name}" were renamed',
                f"They were {', '.join(c.name for c in table.columns)}, and are {', '.join(r.columns)}.",
                columns=crossed,
            ),
            r,
        )


def _with_received(e: TableChanged, r: RelationMessage) -> TableChanged:
    e.received = r.columns
    return e


def as_deployed(
    table: Table, r: RelationMessage, places: tuple[int, ...], but: frozenset[str] = frozenset()
) -> RelationMessage:
    """The table's form as the stream has it, with the names that columns had when they were deployed. `places` are
    their numbers, 0 where that is not certain; with none they are called what they were. `but` are not looked at.
    Raises TableChanged where one is not there, may not be, or has another type."""
    if not places or not all(c.place for c in table.columns):
        return r
    index = {p: i for i, p in enumerate(places) if p > 0}
    wanted = [c for c in table.columns if c.name not in but]
    lacking = tuple(c.name for c in wanted if c.place not in index)
    if lacking and 0 in places:
        raise changed(
            table,
            f'which column of "{table.schema}.{table.name}" is "{lacking[0]}" is not certain',
            f"The stream has {', '.join(r.columns)}: columns were dropped, and others renamed meanwhile.",
            columns=lacking,
        )
    if lacking:
        raise gone(table, lacking)
    for c in wanted:
        if r.types and not same_type(c, *r.types[index[c.place]]):
            raise retyped(table, c)
    names = {index[c.place]: c.name for c in wanted}
    others = (f"\0{i}" for i in range(len(r.columns)))  # which no column is called
    return replace(r, columns=tuple(names.get(i, other) for i, other in enumerate(others)))


def same_type(c: Column, oid: int, modifier: int) -> bool:
    """Whether values of the type are still read as they were; a varchar's length does not matter."""
    return not c.oid or (c.oid, c.modifier) == (oid, modifier) or {c.oid, oid} <= TEXTS


def gone(t: Table, columns: tuple[str, ...]) -> TableChanged:
    return changed(
        t,
        f'table "{t.schema}.{t.name}" no longer has column "{columns[0]}"',
        "It was dropped or renamed after it was deployed.",
        "Change the views that read it, then run: tidemark deploy",
        columns,
    )


def replaced(t: Table) -> TableChanged:
    return changed(
        t,
        f'"{t.schema}.{t.name}" is not the table that was deployed',
        "It was renamed, or dropped and created again: the stream has the old table's changes.",
    )


def retyped(t: Table, c: Column) -> TableChanged:
    return changed(
        t,
        f'column "{c.name}" of "{t.schema}.{t.name}" has another type',
        f"It was {c.source_type} when it was deployed.",
        columns=(c.name,),
    )
