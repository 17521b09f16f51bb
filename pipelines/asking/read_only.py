"""What a query may do: read views, and nothing else. A warehouse is written by its pipeline alone, and files are not
its business.

Three walls: one statement that is a SELECT, or an EXPLAIN of one; tables and table functions by name, in DuckDB's
own syntax tree; and a transaction that cannot write.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from enum import Enum, auto
from functools import cache, lru_cache, wraps
from typing import Any, TypeVar

import duckdb

from compiler.errors import InvalidSql, TidemarkError
from connectors.duckdb.session import scratch

EXPLAIN = re.compile(r"\s*EXPLAIN\s+(ANALYZE\s+)?(\([\w\s,]*\)\s*)?", re.I)
FUNCTIONS = {"range", "generate_series", "unnest", "json_each", "json_tree", "repeat", "repeat_row"}
INTERNAL_FUNCTIONS = {
    "duckdb_tables",
    "duckdb_columns",
    "duckdb_views",
    "duckdb_schemas",
    "duckdb_functions",
    "pragma_table_info",
    "pragma_storage_info",
    "pragma_database_size",
}
INTERNAL_SCHEMAS = {"main", "base", "before", "before_rows", "state", "meta", "information_schema"}
OF_AN_ORDER = {  # aggregates that depend on the order of rows, or on chance
    *("first", "last", "any_value", "arbitrary", "arg_min", "arg_max", "argmin", "argmax", "min_by", "max_by", "mode"),
    *("arg_min_null", "arg_max_null", "list", "array_agg", "string_agg", "group_concat", "listagg", "histogram"),
    *("reservoir_quantile", "approx_quantile", "approx_count_distinct", "approx_top_k"),
}
KNOWN, LONG = 1024, 2000  # statements that are remembered, and of how many characters none is
WRITING = {"nextval", "write_log"}
T = TypeVar("T")
_of_thread = threading.local()  # a connection each: making one takes longer than parsing


REFRESHES = "tidemark.refreshes"  # what tells when views that may lag were finished


class Named(Enum):
    TABLE = auto()
    TABLE_FUNCTION = auto()
    FUNCTION = auto()


def checked(sql: str, views: set[str], internal: bool) -> set[str]:
    """The names of the views that the query reads, in lower case, and `REFRESHES`. Raises InvalidSql for anything
    but a query over `views`.

    `internal`: mirrors, states and the catalog may be read too.
    """
    read = set()
    harmless = FUNCTIONS | INTERNAL_FUNCTIONS if internal else FUNCTIONS
    for what, name in _named(tree(the_query(sql)), frozenset()):
        function = name[-1].lower()
        match what:
            case Named.TABLE:
                read.add(_view(name, views, internal))
            case Named.TABLE_FUNCTION if function not in harmless:
                raise _refused(f"the query calls {function}()", "A query reads views, not files or settings.")
            case _ if function in WRITING:
                raise _refused(f"the query calls {function}()", "A warehouse is written by its pipeline alone.")
    return read - {""}


def _refused(message: str, detail: str, hint: str = "") -> TidemarkError:
    return InvalidSql(message, detail=detail, code="read_only", hint=hint or "tidemark export writes a view to files.")


def unsteady(query: str) -> set[str]:
    """What in a query may give another answer the next time, over the same rows: functions by their names, LIMIT,
    SAMPLE, DISTINCT ON and windows."""
    read = tree(query)
    functions = {n[-1].lower() for what, n in _named(read, frozenset()) if what is Named.FUNCTION}
    return functions & (volatile() | OF_AN_ORDER) | set(_choosing(read))


@cache
def volatile() -> frozenset[str]:
    rows = scratch().execute("SELECT DISTINCT function_name FROM duckdb_functions() WHERE stability = 'VOLATILE'")
    return frozenset(r[0] for r in rows.fetchall())


def recursive(sql: str) -> bool:
    """Whether a query has a recursive part. DuckDB 1.5.5 with the optimizers of a warehouse (`duckdb/session`) ends it
    too early, where a grouped relation is joined in it: it is to be run elsewhere."""
    return '"RECURSIVE_CTE_NODE"' in json.dumps(tree(the_query(sql)))


def _choosing(n: Any) -> Iterator[str]:
    if isinstance(n, list):
        for x in n:
            yield from _choosing(x)
    if isinstance(n, dict):
        match n.get("type"):
            case "DISTINCT_MODIFIER" if n.get("distinct_on_targets"):
                yield "DISTINCT ON"
            case str(node) if node.startswith("LIMIT"):
                yield "LIMIT"
        if n.get("class") == "WINDOW":
            yield "a window"
        if isinstance(n.get("sample"), dict):
            yield "SAMPLE"
        for x in n.values():
            yield from _choosing(x)


def the_query(sql: str) -> str:
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


def remembered(of: Callable[..., T]) -> Callable[..., T]:
    """What a function gives for a statement, and whatever else it is given; not for long ones, of which each may be
    large."""
    known = lru_cache(KNOWN)(of)

    @wraps(of)
    def given(statement: str, *more: Any) -> T:
        return known(statement, *more) if len(statement) < LONG else of(statement, *more)

    return given


@remembered
def tree(query: str) -> Any:
    """DuckDB's own syntax tree. Nobody changes it."""
    if not hasattr(_of_thread, "con"):
        _of_thread.con = scratch()
    row = _of_thread.con.execute("SELECT json_serialize_sql(?::VARCHAR)", [query]).fetchone()
    tree = json.loads(row[0]) if row else {}
    if tree.get("error", True):
        raise _refused("the query cannot be read", str(tree.get("error_message", "")))
    return tree


def _named(n: Any, ctes: frozenset[str]) -> Iterator[tuple[Named, tuple[str, ...]]]:
    """Tables (catalog, schema, name), table functions and functions that are named, but for the CTEs in scope there."""
    if isinstance(n, list):
        for x in n:
            yield from _named(x, ctes)
    if not isinstance(n, dict):
        return
    match n.get("type"):
        case "BASE_TABLE":
            name = (n.get("catalog_name", ""), n.get("schema_name", ""), n["table_name"])
            if any(name[:2]) or n["table_name"].lower() not in ctes:
                yield Named.TABLE, name
        case "TABLE_FUNCTION":
            yield Named.TABLE_FUNCTION, (n["function"]["function_name"],)
        case "FUNCTION":
            yield Named.FUNCTION, (n["function_name"],)
    if isinstance(n.get("cte_name"), str):
        ctes |= {n["cte_name"].lower()}
    for entry in n.get("cte_map", {}).get("map", []):  # each sees those before it, and itself where it is recursive
        yield from _named(entry["value"], ctes)
        ctes |= {entry["key"].lower()}
    for key, x in n.items():
        if key != "cte_map":
            yield from _named(x, ctes)


def _view(name: tuple[str, ...], views: set[str], internal: bool) -> str:
    """The view of this name, or what tells of refreshes; '' for what is internal. Raises where it is none of these."""
    catalog, schema, table = (x.lower() for x in name)
    if not catalog and schema in ("", "main") and table in {v.lower() for v in views}:
        return table
    if not catalog and f"{schema}.{table}" == REFRESHES:
        return REFRESHES
    if internal and not catalog and schema in INTERNAL_SCHEMAS:
        return ""
    raise InvalidSql(
        f'"{name[-1]}" is not a view',
        code="undefined_view",
        detail=f"Views: {', '.join(sorted(views)) or 'none'}.",
        hint="" if internal else "tidemark query --internal reads mirrors (base.…) and states (state.…), too.",
    )
