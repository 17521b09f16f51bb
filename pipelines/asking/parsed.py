"""A query as a tree that can be taken apart: sqlglot's, where that reads the text as DuckDB does.

Two parsers may disagree, and keys that are looked for by one are not those that the other answers for. So what sqlglot
would write is read by DuckDB again, and has to be the same tree but for a few spellings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify

from compiler.errors import TidemarkError
from pipelines.asking.read_only import tree

SPELLED = {"list": "array_agg", "len": "length", "**": "power", "list_contains": "array_contains"}
TRUE = {"class": "CONSTANT", "value": True}


def parsed(sql: str, columns: Mapping[str, list[str]]) -> exp.Expr | None:
    """The query with every column under the name of its source; `columns`: those of all views. None where sqlglot does
    not read it as DuckDB does."""
    try:
        found = sqlglot.parse_one(sql, read="duckdb")
        if _plain(tree(sql)) != _plain(tree(found.sql("duckdb"))):
            return None
        return qualify(
            found,
            dialect="duckdb",
            schema={v: dict.fromkeys(c, "UNKNOWN") for v, c in columns.items()},
            validate_qualify_columns=False,
            quote_identifiers=False,
        )
    except (SqlglotError, TidemarkError):
        return None


def _plain(n: Any) -> Any:
    """A tree without where things stand, and spelled in one way."""
    if isinstance(n, list):
        return [_plain(x) for x in n]
    if not isinstance(n, dict):
        return n
    n = {k: _plain(v) for k, v in n.items() if k != "query_location"}
    if "function_name" in n:
        name = str(n["function_name"]).lower()
        n["function_name"] = SPELLED.get(name, name)
        if name in ("range", "generate_series") and len(n.get("children", ())) == 1:
            n["children"] = [{"range begins at": 0}, *n["children"]]
        elif name in ("range", "generate_series") and n.get("children") and _is_zero(n["children"][0]):
            n["children"] = [{"range begins at": 0}, *n["children"][1:]]
    if n.get("type") == "OPERATOR_IS_NOT_NULL":
        n = {**n, "type": "OPERATOR_NOT", "children": [{**n, "type": "OPERATOR_IS_NULL"}]}
    if n.get("type") == "JOIN" and (n.get("ref_type") == "CROSS" or _is_true(n.get("condition"))):
        n = {**n, "ref_type": "CROSS", "join_type": "INNER", "condition": None}
    return n


def _is_zero(n: Any) -> bool:
    return isinstance(n, dict) and n.get("class") == "CONSTANT" and n.get("value", {}).get("value") == 0


def _is_true(n: Any) -> bool:
    """The constant TRUE, which DuckDB writes as a cast of 't'."""
    if not isinstance(n, dict) or n.get("class") != "CAST" or n.get("cast_type", {}).get("id") != "BOOLEAN":
        return False
    return bool(n.get("child", {}).get("value", {}).get("value") == "t")
