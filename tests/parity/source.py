"""Postgres' side: which rows of arguments an expression has a value for, its type, and the values as text."""

from __future__ import annotations

import psycopg
import pyarrow as pa
from psycopg import sql

from connectors.postgres.snapshot import copy_query
from tests.parity.arguments import arguments, source_type
from tests.parity.expressions import Expression

TRY = """
CREATE FUNCTION works(body text, source text) RETURNS SETOF int LANGUAGE plpgsql AS $$
DECLARE i int; BEGIN
  FOR i IN EXECUTE format('SELECT k FROM %s ORDER BY k', source) LOOP
    BEGIN
      EXECUTE format('SELECT (%s)::text FROM %s WHERE k = %s', body, source, i);
      RETURN NEXT i;
    EXCEPTION WHEN data_exception OR program_limit_exceeded OR feature_not_supported THEN NULL;
    END;
  END LOOP;
END $$
"""


class Source:
    """A database with one table of arguments a signature."""

    def __init__(self, dsn: str) -> None:
        self.conn = psycopg.connect(dsn, autocommit=True)
        self.conn.execute("SET timezone = 'UTC'")
        self.conn.execute(TRY)
        self.tables: dict[tuple[str, ...], str] = {}

    def table(self, kinds: tuple[str, ...]) -> str:
        """The table of arguments for a signature, made and filled when first asked for."""
        if kinds not in self.tables:
            name = self.tables[kinds] = f"args_{len(self.tables)}"
            columns = ", ".join(f"{c} {source_type(k)}" for c, k in zip("abc", kinds, strict=False))
            self.conn.execute(f"CREATE TABLE {name} (k int PRIMARY KEY, {columns})".encode())
            for i, row in enumerate(arguments(kinds)):
                marks = ", ".join(["%s"] * (len(row) + 1))
                self.conn.execute(f"INSERT INTO {name} VALUES ({marks})".encode(), (i, *row))
        return self.tables[kinds]

    def rows(self, e: Expression) -> tuple[int, ...]:
        """The keys of rows for which the expression has a value; raises psycopg.Error if it is no expression at all."""
        table = self.table(e.kinds)
        self.type(e)
        got = self.conn.execute("SELECT works(%s, %s)", (e.sql, table)).fetchall()
        return tuple(r[0] for r in got)

    def type(self, e: Expression) -> str:
        """The name of the expression's type, as Postgres prints it."""
        row = self.conn.execute(
            f"SELECT pg_typeof(({e.sql}))::text FROM {self.table(e.kinds)} LIMIT 1".encode()
        ).fetchone()
        return str(row[0]) if row else ""

    def text(self, query: str, width: int) -> list[pa.Table]:
        """A query's rows as text columns c0…."""
        with self.conn.transaction():
            return list(copy_query(self.conn, sql.SQL(query), width))  # type: ignore[arg-type]

    def close(self) -> None:
        self.conn.close()


def view(exprs: list[Expression], table: str) -> str:
    """The view that evaluates expressions of one signature: the key, then a column an expression."""
    items = ", ".join(f"({e.sql}) AS v{i}" for i, e in enumerate(exprs))
    return f"SELECT k, {items} FROM {table}"


def only(rows: tuple[int, ...]) -> str:
    return f" WHERE k IN ({', '.join(map(str, rows))})"
