"""What no engine has a type for, numerics and arrays, is kept as tidemark.toml declares it, and never rounded."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.errors import TidemarkError
from tests.pipelines.running import running, until
from tests.project import Project

LONG = "1" + "0" * 60 + "." + "0" * 40 + "1"
SCHEMA = (
    "CREATE DOMAIN wei AS numeric(78,0)",
    "CREATE TABLE token (id int PRIMARY KEY, price numeric, held wei, rate numeric, paid numeric(10,2))",
    "CREATE TABLE basket (id int PRIMARY KEY, parts int[])",
    f"""INSERT INTO token VALUES (1, 'NaN', {2**255}, 0.123456789012345678, 1.5), (2, 'Infinity', 1, 2, NULL),
    (3, {LONG}, NULL, 3.5, 3), (4, 1.50, 4, NULL, 0), (5, NULL, NULL, 0, 7.25), (6, 1.5, 4, 2.5, -1)""",
)
TYPES = {"public.token.price": "text", "token.held": "text", "token.rate": "numeric(38,18)"}
VIEWS = {
    "whole": "SELECT id, price, held, rate FROM token",
    "asked": """SELECT id, price IS NULL AS none, price::text AS shown, price::float8 AS double,
        CASE WHEN price::text NOT IN ('NaN', 'Infinity', '-Infinity') AND length(price::text) < 38
        THEN price::numeric(38,2) END AS number, rate * 2 AS twice,
        CASE WHEN price::text <> 'NaN' AND id IN (4, 5, 6) THEN price::numeric(20,1) END AS short FROM token""",
    "by_held": "SELECT held, count(*) AS n, sum(paid) AS s, sum(price::float8) AS p FROM token GROUP BY held",
    "json": """SELECT id, to_jsonb(price) AS j, jsonb_typeof(to_jsonb(price)) AS k, jsonb_build_object('p', price) AS o,
        to_json(held) AS r, held IN (SELECT held FROM token WHERE id > 4) AS i FROM token""",
    "rates": "SELECT rate, max(rate) AS top, sum(rate) AS s FROM token GROUP BY rate",
}
CHANGES = (
    "UPDATE token SET price = 1.500, held = held + 1 WHERE id = 4",
    "UPDATE token SET price = 'NaN', rate = 0.000000000000000001 WHERE id IN (2, 6)",
    f"INSERT INTO token VALUES (7, -{LONG}, {10**77}, 9999999999999999999.5, 1), (8, '-Infinity', -1, -1, 1)",
    "DELETE FROM token WHERE id IN (1, 3)",
)


def declare(p: Project, types: dict[str, str]) -> None:
    path = p.home / "tidemark.toml"
    rest = path.read_text().split("[source.types]")[0]
    path.write_text(rest + "[source.types]\n" + "".join(f'"{n}" = "{t}"\n' for n, t in types.items()))


def project(tmp_path: Path, database: str, views: dict[str, str], **how: str) -> Project:
    p = Project.create(tmp_path, database, views, **how)
    p.source(*SCHEMA)
    declare(p, TYPES)
    return p


@pytest.mark.parametrize("capture", ["stream", "debezium"])
def test_they_are_kept_whole(capture: str, database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, VIEWS, capture=capture)
    p.deploy()
    p.assert_equal()
    for c in CHANGES:
        p.source(c)
        p.catch_up()
        p.assert_equal()


@pytest.mark.spark
@pytest.mark.parametrize("local_memory", ["2GB", "0", "none"])
def test_they_are_kept_whole_on_spark(local_memory: str, database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, VIEWS, engine="spark", local_memory=local_memory)
    p.deploy()
    p.assert_equal()
    p.source(*CHANGES)
    p.catch_up()
    p.assert_equal()


def test_what_is_declared_later_is_copied_again(database: str, tmp_path: Path) -> None:
    p = project(
        tmp_path, database, {"prices": "SELECT id, price FROM token", "paid": "SELECT sum(paid) AS s FROM token"}
    )
    declare(p, {})
    with pytest.raises(TidemarkError, match=r'"public.token.price" = "text" under \[source.types\]'):
        p.deploy()
    p.source("DELETE FROM token WHERE price IN ('NaN', 'Infinity') OR price > 2")
    p.deploy()
    p.assert_equal()
    p.source("INSERT INTO token VALUES (9, 'NaN', 1, 1, 1)")
    p.catch_up()
    assert [v.error != "" for v in sorted(p.deployed.views, key=lambda v: v.name)] == [False, True]
    declare(p, {"token.price": "text"})
    p.deploy()
    p.assert_equal()
    p.source(f"UPDATE token SET price = {LONG} WHERE id = 4")
    p.catch_up()
    p.assert_equal()
    p.source("DELETE FROM token WHERE price = 'NaN' OR price > 2")
    declare(p, {"token.price": "numeric(20,3)"})
    p.deploy()
    p.assert_equal()
    p.source("UPDATE token SET price = 2.0015")
    p.catch_up()
    assert [v.error != "" for v in sorted(p.deployed.views, key=lambda v: v.name)] == [False, True]


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT sum(price) AS s FROM token", "sum of numeric is not supported"),
        ("SELECT price, count(*) AS n FROM token GROUP BY price", "GROUP BY.* of numeric is not supported"),
        ("SELECT id FROM token WHERE price > 1", "of numeric is not supported"),
        ("SELECT price::numeric AS n FROM token", "needs a scale"),
        ("SELECT max(held) AS m FROM token", r"max of numeric\(78,0\) is not supported"),
        ("SELECT id FROM token WHERE price IN (SELECT price FROM token)", "of a subquery's rows of numeric"),
        ("SELECT id, (price, id) NOT IN (SELECT price, 1 FROM token) AS x FROM token", "of a subquery's rows"),
        ("SELECT id FROM token WHERE held > ALL (SELECT held FROM token)", "of numeric"),
        ("SELECT ARRAY[price] = ARRAY[price] AS x FROM token", "= of numeric is not supported"),
        ("SELECT ARRAY[held] < ARRAY[held] AS x FROM token", "< of numeric"),
        ("SELECT a.id FROM token a JOIN token b ON ARRAY[a.price] = ARRAY[b.price]", "= of numeric"),
        ("SELECT max(ARRAY[held]) AS x FROM token", "max of numeric"),
        ("SELECT id FROM token ORDER BY ARRAY[held] LIMIT 1", "ORDER BY of numeric"),
        ("SELECT count(DISTINCT (price, id)) AS x FROM token", "DISTINCT of rows with numeric"),
        (
            "WITH RECURSIVE r AS (SELECT price FROM token UNION SELECT price FROM r) SELECT count(*) AS n FROM r",
            "of numeric",
        ),
        ("SELECT coalesce(price, '1e3') AS x FROM token", "a literal of numeric"),
        ("SELECT held FROM token UNION SELECT '1.0'", "a literal of numeric"),
    ],
)
def test_what_would_lose_digits_is_refused(query: str, why: str, database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, {"v": query})
    with pytest.raises(TidemarkError, match=why):
        p.deploy()


@pytest.mark.parametrize(
    ("types", "why"),
    [
        ({"token.price": "text", "public.token.price": "text"}, "It is declared twice"),
        ({"token.prise": "text"}, "names token.prise, which is not there"),
        ({"toke.price": "text"}, "names toke.price, which is not there"),
        ({"token.id": "text"}, "declares token.id, which has type integer"),
        ({"token.paid": "numeric(20,4)"}, r"declares token.paid, which has type numeric\(10,2\)"),
        ({"basket.parts": "numeric(20,4)"}, "An array can be kept as text"),
        ({"token.price": "float8"}, "source.types"),
        ({"token.price": "numeric(39,2)"}, "source.types"),
    ],
)
def test_what_cannot_be_declared(types: dict[str, str], why: str, database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, {"v": "SELECT id FROM token"})
    declare(p, types)
    with pytest.raises(TidemarkError, match=why):
        p.deploy()


def test_after_a_rename_what_heals_is_kept_as_it_was(database: str, tmp_path: Path) -> None:
    views = {"prices": "SELECT id, price, paid FROM token", "well": "SELECT id, held FROM token"}
    p = project(tmp_path, database, views)
    p.deploy()
    for called in ("token.cost", "token.price"):  # as the source has it by now, and as it was deployed
        declare(p, {called: "text", "token.held": "text", "token.id": "text"})
        if called == "token.cost":
            p.source("ALTER TABLE token RENAME price TO cost", "ALTER TABLE token ALTER paid TYPE numeric(12,3)")
        else:
            p.source("ALTER TABLE token ALTER paid TYPE numeric(14,4)")
        with running(p):
            until(lambda: any(v.error for v in p.deployed.views), "the view is set aside")
            until(lambda: not any(v.error for v in p.deployed.views), "it is filled again", 100)
        kept = next(c for t in p.deployed.catalog for c in t.columns if c.name == "price")
        assert kept.type.name == "opaque"
        p.assert_equal()


def test_what_is_compiled_without_a_server_is_declared_too(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id, held FROM token"})
    (tmp_path / "schema.sql").write_text("CREATE TABLE token (id int PRIMARY KEY, held numeric(78,0));")
    declare(p, {"token.held": "text"})
    done = p.command("compile", "--schema", "schema.sql")
    assert done.returncode == 0 and "held_2 VARCHAR" in done.stdout, done.stdout + done.stderr
    declare(p, {"token.id": "text"})
    p.source(*SCHEMA)
    assert p.command("check").returncode == 2


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def test_arrays_of_more_dimensions_than_their_column_says(engine: str, database: str, tmp_path: Path) -> None:
    views = {
        "shown": "SELECT id, a, n, m::text AS m, a IS NULL AS none FROM t",
        "groups": "SELECT a, count(*) AS c FROM t GROUP BY a",
        "well": "SELECT id FROM t",
    }
    p = Project.create(tmp_path, database, views, engine=engine, local_memory="1GB")
    p.source(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE TABLE t (id int PRIMARY KEY, a int[], n numeric[], m mood[])",
        "INSERT INTO t VALUES (1, '{1,2}', '{1.50}', '{sad}')",
    )
    p.deploy()
    p.source("INSERT INTO t VALUES (2, '{{1,2},{3,NULL}}', '{NaN,1e50}', '{{ok},{sad}}')")
    p.catch_up()
    assert {v.name for v in p.deployed.views if "is out of range" in v.error} == {"shown", "groups"}
    declare(p, {"t.a": "text", "public.t.n": "text", "t.m": "text"})
    p.deploy()
    p.assert_equal()
    p.source(
        "UPDATE t SET a = '[0:1]={1,2}' WHERE id = 1",
        "INSERT INTO t VALUES (3, '{{1,2},{3,NULL}}', NULL, '{}'), (4, NULL, '{{1},{Infinity}}', NULL)",
    )
    p.catch_up()
    p.assert_equal()
