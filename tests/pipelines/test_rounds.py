"""Rounds of fetches: a batch has few, by auxiliary states, or by a mirror that is Local all the same."""

from __future__ import annotations

import re
from pathlib import Path

from compiler.catalog import Catalog, read_schema
from compiler.parse import parse_view
from pipelines.fetches import MOST, by_states, few_rounds, local_all_the_same, rounds_of
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
    assert v.notes[-1].endswith(f"without its states: {before}")


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
    left = few_rounds([v, few], EVERY, sizes, 1_000, catalog, [v, few], "auto")
    assert {*left} == {*EVERY} - got and v.notes[-1].startswith("Local all the same: the mirrors of public.")


def test_states_that_mirrors_make_needless_are_not_kept() -> None:
    (sums, pairs), catalog = compiled(SUMS, PAIRS)
    left = few_rounds([sums, pairs], EVERY, dict.fromkeys(EVERY, 10), 1_000, catalog, [sums, pairs], "auto")
    assert {v.strategy for v in (sums, pairs)} == {"first_order"} and rounds_of(sums, left) <= MOST


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


def strategies(p: Project) -> dict[str, str]:
    return {v.name: v.strategy for v in p.deployed.views}


def test_a_deployment_with_room_for_some(database: str, tmp_path: Path) -> None:
    """What was chosen at first is chosen again, and told."""
    p = Project.create(tmp_path, database, {"sums": SUMS, "pairs": PAIRS}, "spark", local_memory="120kB")
    fill(p)
    done = p.command("deploy")
    assert done.returncode == 0, done.stderr
    dist, chosen = set(p.deployed.dist), strategies(p)
    assert len(dist) == 2 and "more than local_memory" not in done.stderr
    for view, strategy in chosen.items():
        assert f"strategy {strategy}\n" in p.command("explain", view).stdout
    change(p)
    for command in (["run", "--once"], ["deploy"], ["verify"]):
        done = p.command(*command)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "more than local_memory" not in done.stderr and "resync" not in done.stderr, done.stderr
    assert "sums: equal" in done.stdout and "pairs: equal" in done.stdout
    assert set(p.deployed.dist) == dist and strategies(p) == chosen


def test_small_tables_that_come_later_are_local(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"pairs": PAIRS}, "spark", local_memory="120kB")
    fill(p)
    assert p.command("deploy").returncode == 0
    dist = set(p.deployed.dist)
    more = ("tiny1", "tiny2", "tiny3")
    p.source(*(f"CREATE TABLE {t} (id int PRIMARY KEY, w int)" for t in more))
    p.source(*(f"INSERT INTO {t} SELECT i, (i + 1) % 5 FROM generate_series(0, 4) i" for t in more))
    names = (
        "SELECT a.id, t1.w, t2.w AS w2, t3.w AS w3 FROM a JOIN tiny1 t1 ON t1.id = a.g JOIN tiny2 t2 ON t2.id = t1.w "
        "JOIN tiny3 t3 ON t3.id = t2.w"
    )
    p.write({"names": names}, "engine = 'spark'")
    assert p.command("deploy").returncode == 0
    assert set(p.deployed.dist) - dist < {f"public.{t}" for t in more}  # as many as rounds ask for
    change(p)
    for command in (["run", "--once"], ["verify"]):
        done = p.command(*command)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "names: equal" in done.stdout


def test_all_that_is_local_all_the_same_is_not_told_to_be_too_much(database: str, tmp_path: Path) -> None:
    chain = "a JOIN a a2 ON a2.id = a.to_b JOIN a a3 ON a3.id = a2.to_b JOIN a a4 ON a4.id = a3.to_b"
    views = {"chained": f"SELECT a.id, a4.x, m.w FROM {chain} JOIN m ON m.id = a4.g"}
    p = Project.create(tmp_path, database, views, "spark", local_memory="60kB")
    fill(p)
    p.source(
        "CREATE TABLE m (id int PRIMARY KEY, w int)", "INSERT INTO m SELECT i, i % 3 FROM generate_series(0, 400) i"
    )
    done = p.command("deploy")
    assert done.returncode == 0 and p.deployed.dist == [] and "local_memory" not in done.stderr, done.stderr


def test_what_only_the_driver_can_keep_stays_with_it(database: str, tmp_path: Path) -> None:
    """Where tables without a key take more than there is room for, all others are Dist."""
    p = Project.create(tmp_path, database, {}, "spark", local_memory="0")
    p.source(
        "CREATE TABLE k (id int PRIMARY KEY, g int)",
        "CREATE TABLE l (g int, x int)",
        "ALTER TABLE l REPLICA IDENTITY FULL",
        "INSERT INTO k SELECT i, i % 7 FROM generate_series(1, 100) i",
        "INSERT INTO l SELECT i % 7, i FROM generate_series(1, 100) i",
    )
    late = "SELECT g, count(*) AS n, sum(x) AS s FROM k JOIN l USING (g) GROUP BY g"
    p.write({"late": late}, "engine = 'spark', target_lag = '1 h'")
    done = p.command("deploy")
    assert done.returncode == 0 and p.deployed.dist == ["public.k"], done.stderr
    p.source("UPDATE l SET x = x + 1 WHERE x % 3 = 0", "DELETE FROM k WHERE id % 9 = 0")
    for command in (["run", "--once"], ["verify"]):
        done = p.command(*command)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "late: equal" in done.stdout
