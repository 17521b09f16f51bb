"""How DuckDB's values are kept in Delta tables, so that any reader of Delta has them, and how they come back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import duckdb

from compiler.catalog import Column
from compiler.ir.scalar import Col
from compiler.ir.types import Type
from compiler.spelling import ident
from compiler.spelling.duckdb import type_name
from connectors.duckdb.parquet import options
from connectors.spark.landing import interval_from, quoted, struct_of
from connectors.spark.mirror import encoded

NUMBERS = frozenset(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE"))
KEPT = NUMBERS | {"BOOLEAN", "VARCHAR", "BLOB", "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"}


def mirror_folder(mirror: str) -> str:
    return f"mirror/{_folder(mirror)}"


def state_folder(state: str) -> str:
    return f"state/{_folder(state)}"


def view_folder(view: str) -> str:
    return f"views/{_folder(view)}"


def _folder(name: str) -> str:
    """A name as a folder's. (deltalake takes %20 in a path for a blank, and so one folder for another.)"""
    return re.sub(r"^[._]|[^\w.-]", lambda m: "".join(f"~{b:02x}" for b in m[0].encode()), name)


def parquet(files: Iterable[Path]) -> str:
    """Where SQL reads these files from."""
    return f"read_parquet([{', '.join(map(_literal, files))}])"


def copy(con: duckdb.DuckDBPyConnection, query: str, file: Path) -> str:
    """The statement that writes a query's rows to a file."""
    return f"COPY ({query}) TO {_literal(file)} ({options(con.execute, query)})"


def _literal(file: Path) -> str:
    return "'" + str(file).replace("'", "''") + "'"


def to_delta(con: duckdb.DuckDBPyConnection, query: str) -> str:
    """The query with each column under a name, and as a type, that Delta has: intervals as a struct of their parts,
    what Delta lacks as its text."""
    items = [
        f"{_kept(ident(name).sql('duckdb'), kind)} AS {quoted(encoded(name))}"
        for name, kind, *_ in con.execute(f"DESCRIBE {query}").fetchall()
    ]
    return f"SELECT {', '.join(items)} FROM ({query})"


def _kept(column: str, kind: str) -> str:
    element = kind.rstrip("[]")
    if element in KEPT or element.startswith("DECIMAL("):
        return column
    if element == "INTERVAL":
        return _each(column, kind.count("[]"), struct_of)
    return f"CAST({column} AS VARCHAR{kind.removeprefix(element)})"


def _each(e: str, depth: int, what: Callable[[str], str]) -> str:
    """What is made of each value in lists of lists; `depth` 0 is the value itself."""
    if not depth:
        return what(e)
    x = f"x{depth}"
    return f"list_transform({e}, {x} -> {_each(x, depth - 1, what)})"


def kept_type(kind: str) -> str:
    """The type that a column of DuckDB's `kind` has there, in DuckDB's words."""
    element = kind.rstrip("[]")
    if element in KEPT or element.startswith("DECIMAL("):
        return kind
    if element == "INTERVAL":
        return f"STRUCT(months INTEGER, days INTEGER, micros BIGINT){kind.removeprefix(element)}"
    return f"VARCHAR{kind.removeprefix(element)}"


def from_delta(columns: Iterable[Column | Col]) -> str:
    """Columns of a table or a state, from where they are kept in that form."""
    return ", ".join(f"{_back(quoted(encoded(c.name)), c.type)} AS {ident(c.name).sql('duckdb')}" for c in columns)


def _back(column: str, t: Type) -> str:
    depth, element = 0, t
    while element.element is not None:
        depth, element = depth + 1, element.element
    if element.name == "interval":
        return _each(column, depth, interval_from)
    return f"CAST({column} AS {type_name(t)})"
