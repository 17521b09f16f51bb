"""docs/schema-changes.md, from what is tested."""

from __future__ import annotations

from pathlib import Path

from tests.pipelines.schema_changes import ALTERED, FORMS, LEFT_OUT, PARTITIONS, PUBLISHED

HEAD = """# What becomes of an altered source

Written by `python -m tests.pipelines.schema_changes_page` from what `tests/pipelines/test_schema_changes.py` and
`test_partitions.py` do: each line is tried among inserts, updates and deletes while no pipeline runs, and while one
does (of the partitions, some). What stops is set aside, and nothing else is; afterwards all views are compared with
Postgres. What stopped is filled again by `tidemark deploy`, beside the pipeline that runs or without one, or by that
pipeline itself (docs/decisions/schema-changes.md). Nothing here needs `teardown`. A table that is renamed stops
nothing either (`test_renamed_tables.py`).

## A table
`t (id int PRIMARY KEY, a int NOT NULL, b int, unused text, mood mood, p place)`, of which views read `a`, `b`, `mood`
or the fields of `p`, and not `unused`; and `u (k int PRIMARY KEY, v text, spare int)`.

| done | stops | the views say something else then |
|---|---|---|
"""
PARTS = """
## A partitioned table
`part (id int, k int, v int)`, partitioned by `k`: `part_1`, `part_2`, and `part_3` with `part_30` below it.

| done | stops |
|---|---|
"""


HARMLESS = """
## What stops nothing
Done one after the other to one table whose columns views read, with rows written after each. (`SET UNLOGGED` is refused
by Postgres for a table that is published, and so are updates without a replica identity.)

"""
PUBLICATION = """
## The publication
Where it left out a table, the views of that table stop, and are filled from a new copy of it. Where it may have left
out anything, `run` ends with exit code 1 and `tidemark deploy --resync` copies all tables beside what is there.

| done | stops |
|---|---|
"""


def written() -> str:
    """The page."""
    lines = [
        f"| {code(sql)} | {', '.join(sorted(stops)) or 'nothing'} | {', '.join(sorted(now)) or 'no'} |"
        for sql, stops, now in ALTERED.values()
    ]
    parts = [f"| {code(sql)} | {'its views' if stops else 'nothing'} |" for sql, stops in PARTITIONS.values()]
    forms = [f"- {code(sql)}" for sql in FORMS]
    whole = [
        f"| {code(_named(sql))} | {'its views' if one else 'all, until a resync'} |" for sql, one in LEFT_OUT.values()
    ]
    none = [f"| {code(_named(sql))} | nothing |" for sql in PUBLISHED]
    sections = (HEAD, lines, HARMLESS, forms, PARTS, parts, PUBLICATION, [*none, *whole])
    return "".join(s if isinstance(s, str) else "\n".join(s) + "\n" for s in sections)


def _named(sql: str) -> str:
    return sql.format(p="tidemark_…")


def code(sql: str) -> str:
    return f"`{sql.replace('||DROP', '; later DROP').replace('|', '; ')}`"


if __name__ == "__main__":
    (Path(__file__).parents[2] / "docs" / "schema-changes.md").write_text(written())
