"""What a database or a role is set to changes neither what is deployed nor what is compared."""

from __future__ import annotations

from pathlib import Path

import psycopg
import psycopg.conninfo

from tests.project import Project

VIEWS = {
    "late": "SELECT d, max(b) AS m FROM t WHERE d > '2020-01-05' GROUP BY d",
    "slash": "SELECT id FROM t WHERE b = 'a\\'",
    "never": "SELECT count(*) AS n FROM t WHERE b = NULL",
}


def test_settings_of_a_database(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS)
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, d date, b text)",
        "INSERT INTO t VALUES (1, '2020-01-06', 'a\\'), (2, '2020-01-07', NULL), (3, '2020-01-01', 'x')",
    )
    with psycopg.connect(database, autocommit=True) as c:
        name = c.info.dbname
        for setting in (
            "quote_all_identifiers = on",
            "transform_null_equals = on",
            "standard_conforming_strings = off",
        ):
            c.execute(f'ALTER DATABASE "{name}" SET {setting}')  # type: ignore[call-overload]
    p.deploy()
    p.assert_equal()
    p.source("INSERT INTO t VALUES (4, '2021-01-01', NULL), (5, '2021-01-01', E'a\\\\')")
    p.assert_equal()


def test_a_table_that_may_not_be_read_stops_no_other_comparison(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {**VIEWS, "other": "SELECT id FROM u"})
    role = f"reader_{psycopg.conninfo.conninfo_to_dict(database)['dbname']}"
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, d date, b text)",
        "CREATE TABLE u (id int PRIMARY KEY)",
        "INSERT INTO u VALUES (1)",
        f"CREATE ROLE {role} LOGIN REPLICATION",
        f"GRANT SELECT ON t TO {role}",
    )
    try:
        p.deploy()
        toml = tmp_path / "tidemark.toml"
        toml.write_text(toml.read_text().replace("user=postgres", f"user={role}"))
        told = {v.view: v for v in p.verify()}
    finally:
        p.source(f"DROP OWNED BY {role}", f"DROP ROLE {role}")
    assert told["late"].equal and told["public.t"].equal
    assert "permission denied" in told["other"].error and "permission denied" in told["public.u"].error
