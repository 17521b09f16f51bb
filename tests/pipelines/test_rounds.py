"""Rounds of fetches: a batch has few, by auxiliary states, or by a mirror that is Local all the same."""

from __future__ import annotations

import re
from pathlib import Path

from compiler.catalog import Catalog, read_schema
from compiler.parse import parse_view
from pipelines.fetches import MOST, by_states, local_all_the_same, rounds_of
from pipelines.project import Compiled, compile_project
from tests.project import Project

NAMES = "abcde"
CHAIN = " JOIN ".join(["a", *(f"{y} ON {y}.id = {x}.to_{y}" for x, y in zip(NAMES, NAMES[1:]))])
SUMS = f"SELECT a.g, sum(a.x * e.x) AS s, count(*) AS n FROM {CHAIN} GROUP BY a.g"
PAIRS = f"SELECT a.id AS a, e.id AS e, b.x + c.x AS x FROM {CHAIN}"
TABLES = {
    x: f"CREATE TABLE {x} (id bigint PRIMARY KEY, g int, x numeric(12,2), to_{y} bigint NOT NULL)"
    for x, y in zip(NAMES, [*NAMES[1:], "z"])
}
EVERY = [f"public.{x}" for x in NAMES]


def compiled(*queries: str, options: str = "") -> tuple[list[Compiled], Catalog]:
    catalog = read_schema(";\n".join(TABLES.values()) + ";")
    texts = [parse_view(f"CREATE MATERIALIZED VIEW v{i} {options} AS {q}") for i, q in enumerate(queries)]
    views = [Compiled(t.name, t, engine="spark") for t in texts]
    compile_project(views, catalog, "spark")
    assert not [v.error for v in views if v.error is not None]
    return views, catalog


def test_auxiliary_states_make_rounds_fewer() -> None:
    (v,), catalog = compiled(SUMS)
    before = rounds_of(v, EVERY)
    by_states(v, EVERY, catalog, [v], "auto")
    assert before > MOST and v.strategy == "higher_order" and rounds_of(v, EVERY) <= MOST
    assert v.notes[-1].endswith(f"in {before} without its states")


def test_what_was_asked_for_stays() -> None:
    for options, default in (("WITH (strategy = 'first_order')", "auto"), ("", "first_order")):
        (v,), catalog = compiled(SUMS, options=options)
        by_states(v, EVERY, catalog, [v], default)
        assert v.strategy == "first_order" and rounds_of(v, EVERY) > MOST


def test_few_rounds_need_no_states() -> None:
    (v,), catalog = compiled("SELECT a.g, sum(a.x * b.x) AS s FROM a JOIN b ON b.id = a.to_b GROUP BY a.g")
    by_states(v, EVERY, catalog, [v], "auto")
    assert v.strategy == "first_order"


def test_small_mirrors_are_local_where_states_do_not_help() -> None:
    (v, few), catalog = compiled(PAIRS, "SELECT id, x FROM a")
    by_states(v, EVERY, catalog, [v], "auto")
    assert v.strategy == "first_order"
    sizes = {t: 10 * (i + 1) for i, t in enumerate(reversed(EVERY))}  # e is the smallest
    assert local_all_the_same([v, few], EVERY, sizes, 0) == set()
    assert local_all_the_same([v, few], EVERY, sizes, 15) == set()
    got = local_all_the_same([v, few], EVERY, sizes, 1_000)
    assert got and rounds_of(v, {*EVERY} - got) <= MOST and got == {*EVERY[-len(got) :]}
    assert v.notes[-1].startswith("Local all the same: the mirrors of public.")


def fill(p: Project) -> None:
    p.source(
        *TABLES.values(),
        *(f"INSERT INTO {x} SELECT i, i % 5, i, (i * 7) % 300 + 1 FROM generate_series(1, 300) i" for x in NAMES),
    )


def change(p: Project) -> None:
    p.source(
        "UPDATE a SET x = x + 1 WHERE id % 10 = 0",
        "UPDATE c SET to_d = to_d % 100 + 1 WHERE id % 7 = 0",
        "DELETE FROM e WHERE id % 50 = 0",
        "INSERT INTO b SELECT i, i % 5, i, i % 300 + 1 FROM generate_series(301, 320) i",
    )


def test_a_deployment_whose_tables_are_all_dist(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"sums": SUMS, "pairs": PAIRS}, "spark", local_memory="0")
    fill(p)
    done = p.command("deploy")
    assert done.returncode == 0, done.stderr
    assert {v.name: v.strategy for v in p.deployed.views} == {"sums": "higher_order", "pairs": "first_order"}
    assert set(p.deployed.dist) == set(EVERY)
    told = p.command("explain", "sums")
    found = re.search(r"updates all tables: (\d+) fetches", told.stdout)
    assert found is not None and int(found[1]) <= MOST + 1, told.stdout + told.stderr
    assert "strategy higher_order" in told.stdout
    change(p)
    again = p.command("deploy")  # chooses what it chose
    assert again.returncode == 0 and "sums" not in again.stderr, again.stdout + again.stderr
    for command in (["run", "--once"], ["verify"]):
        done = p.command(*command)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "sums: equal" in done.stdout and "pairs: equal" in done.stdout


def test_a_deployment_with_room_for_some(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"sums": SUMS, "pairs": PAIRS}, "spark", local_memory="75kB")
    fill(p)
    done = p.command("deploy")
    assert done.returncode == 0, done.stderr
    dist = set(p.deployed.dist)
    assert dist and dist < set(EVERY) and "more than local_memory" not in done.stderr
    change(p)
    for command in (["run", "--once"], ["deploy"], ["verify"]):
        done = p.command(*command)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "sums: equal" in done.stdout and "pairs: equal" in done.stdout
    assert set(p.deployed.dist) == dist
