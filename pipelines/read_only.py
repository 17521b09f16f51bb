"""What a query may do: read views, and nothing else. A warehouse is written by its pipeline alone, and files are not its business.

Three walls: one statement that is a SELECT, or an EXPLAIN of one; tables and table functions by name, as DuckDB itself
resolves them; and a transaction that cannot write.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import duckdb
from sqlglot import exp

from compiler.errors import InvalidSql, TidemarkError
from connectors.duckdb.session import scratch

EXPLAIN = re.compile(r"\s*EXPLAIN\s+(ANALYZE\s+)?(\([\w\s,]*\)\s*)?", re.I)
FUNCTIONS = {"range", "generate_series", "unnest", "json_each", "json_tree", "repeat", "repeat_row"}
INTERNAL_FUNCTIONS = {"duckdb_tables", "duckdb_columns", "duckdb_views", "duckdb_schemas", "duckdb_functions", "pragma_table_info",
                      "pragma_storage_info", "pragma_database_size"}
INTERNAL_SCHEMAS = {"main", "base", "before", "before_rows", "state", "meta", "information_schema"}
WRITING = {"nextval", "write_log"}


def checked(sql: str, views: set[str], internal: bool) -> set[str]:
    """The names of the views that the query reads, in lower case. Raises InvalidSql for anything but a query over `views`.

    `internal`: mirrors, states and the catalog may be read too.
    """
    query = _query(sql)
    for node in _nodes(query):
        name = str(node.get("function_name", "")).lower()
        if node.get("type") == "TABLE_FUNCTION":
            name = str(node.get("function", {}).get("function_name", "")).lower()
            if name not in FUNCTIONS and not (internal and name in INTERNAL_FUNCTIONS):
                raise _refused(f"the query calls {name}()", "A query reads views, not files or settings.")
        elif node.get("type") == "FUNCTION" and name in WRITING:
            raise _refused(f"the query calls {name}()", "A warehouse is written by its pipeline alone.")
    return {view for name in _tables(query) if (view := _view(name, views, internal))}


def _refused(message: str, detail: str, hint: str = "") -> TidemarkError:
    return InvalidSql(message, detail=detail, code="read_only", hint=hint or "tidemark export writes a view to files.")


def _query(sql: str) -> str:
    """The one SELECT of the text."""
    try:
        found = duckdb.extract_statements(sql)
        if len(found) == 1 and found[0].type == duckdb.StatementType.EXPLAIN:
            found = duckdb.extract_statements(EXPLAIN.sub("", found[0].query, count=1))
    except duckdb.Error as e:
        raise InvalidSql("the query does not parse", detail=str(e).split("\n")[0], code="syntax_error") from e
    if not found:
        raise InvalidSql("the query is empty", code="syntax_error")
    if len(found) != 1 or found[0].type != duckdb.StatementType.SELECT:
        raise _refused("only one query can be run", "A warehouse is written by its pipeline alone.")
    return found[0].query


def _nodes(query: str) -> Iterator[dict[str, Any]]:
    """Every node of DuckDB's own syntax tree."""
    con = scratch()
    row = con.execute("SELECT json_serialize_sql(?::VARCHAR)", [query]).fetchone()
    tree = json.loads(row[0]) if row else {}
    if tree.get("error", True):
        raise _refused("the query cannot be read", str(tree.get("error_message", "")))
    left: list[Any] = [tree]
    while left:
        n = left.pop()
        if isinstance(n, dict):
            yield n
            left += n.values()
        elif isinstance(n, list):
            left += n


def _tables(query: str) -> set[str]:
    """Names as they are written, but for those of a WITH where it is in scope."""
    try:
        return set(scratch().get_table_names(query, qualified=True))
    except duckdb.Error as e:
        raise InvalidSql("the query failed", detail=str(e).split("\n")[0], code="query_failed") from e


def _view(name: str, views: set[str], internal: bool) -> str:
    """The view of this name; '' for something internal. Raises where it is neither."""
    t = exp.to_table(name, dialect="duckdb")
    schema, known = t.db.lower(), {v.lower() for v in views}
    if not t.catalog and schema in ("", "main") and t.name.lower() in known:
        return t.name.lower()
    if internal and not t.catalog and schema in INTERNAL_SCHEMAS:
        return ""
    raise InvalidSql(f'"{name}" is not a view', code="undefined_view",
                     detail=f"Views: {', '.join(sorted(views)) or 'none'}.",
                     hint="" if internal else "tidemark query --internal reads mirrors (base.…) and states (state.…), too.")
