"""advise: of what was measured, what another strategy would save."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from compiler.errors import TidemarkError
from compiler.ir.scalar import Col
from compiler.ir.types import INT4, TEXT
from pipelines.asking.advising import measured
from pipelines.asking.ask import ask
from pipelines.asking.reads import Reads
from pipelines.observe.work import Work
from tests.pipelines.running import running
from tests.project import Project


def test_what_a_batch_costs_without_its_rows() -> None:
    w = Work()
    for rows in (1, 10, 100, 1000, 500):
        w.add(rows, 0.004 + 0.00001 * rows)
    assert abs(w.fixed - 0.004) < 1e-9
    same = Work()
    for _ in range(5):
        same.add(3, 0.002)
    assert same.fixed == pytest.approx(0.002)  # nothing tells the two apart
    falling = Work()
    for rows in (1, 1000):
        falling.add(rows, 1.0 / rows)
    assert 0 <= falling.fixed <= falling.seconds / falling.batches


def test_how_views_are_asked() -> None:
    now = [0.0]
    reads = Reads(lambda: now[0])
    columns = {"feed": [Col("who", INT4), Col("title", TEXT)], "posts": [Col("who", INT4), Col("n", INT4)]}
    for sql, views in (
        ("SELECT * FROM feed WHERE who = 7", ["feed"]),
        ("SELECT * FROM feed WHERE who IN (8, 9) AND title = 'x'", ["feed"]),
        ("SELECT title FROM feed", ["feed"]),
        ("SELECT * FROM feed WHERE who IN (SELECT who FROM posts)", ["feed", "posts"]),
    ):
        reads.note(sql, views, lambda: columns)
        now[0] += 1
    feed = reads.of("feed")
    assert (feed.reads, feed.looked) == (4, 4)
    assert feed.by["who"] == (2, {"7", "8", "9"}) and feed.by["title"] == (1, {"x"})
    assert reads.of("posts").by == {}


def test_views_that_are_asked_in_turns_are_all_looked_at() -> None:
    now = [0.0]

    def ticking() -> float:
        now[0] += 0.001
        return now[0]

    reads = Reads(ticking)
    columns = {"feed": [Col("who", INT4)], "posts": [Col("who", INT4)]}
    for n in range(2000):
        for view in columns:
            reads.note(f"SELECT * FROM {view} WHERE who = {n}", [view], lambda: columns)
    looked = [reads.of(view).looked for view in columns]
    assert min(looked) > 10 and max(looked) <= 2 * min(looked)


def test_it_says_what_would_save_work_and_room(database: str, tmp_path: Path) -> None:
    p = Project.create(
        tmp_path,
        database,
        {
            "sums": "SELECT k, count(*) AS n, sum(v) AS s FROM fact GROUP BY k",
            "feed": "SELECT who, id, v FROM note",
            "whole": "SELECT who, id FROM both_read",
            "counted": "SELECT count(*) AS n FROM both_read",
        },
    )
    p.source(
        "CREATE TABLE fact (id int PRIMARY KEY, k int, who int, v int)",
        "CREATE TABLE note (id int PRIMARY KEY, k int, who int, v int)",
        "CREATE TABLE both_read (id int PRIMARY KEY, k int, who int, v int)",
        *(
            f"INSERT INTO {t} SELECT i, i % 50, i % 400, i FROM generate_series(1, 4000) i"
            for t in ("fact", "note", "both_read")
        ),
    )
    p.deploy()
    with pytest.raises(TidemarkError, match="no pipeline runs"):
        measured(p.config)
    with running(p):
        assert measured(p.config) == []
        began = time.monotonic()
        for n in itertools.count():
            lasted = time.monotonic() - began
            if lasted > 11 and len(measured(p.config)) == 3 or lasted > 120:
                break  # what is maintained for ten seconds may be ten seconds old; a batch that stood still counts long
            p.source(f"UPDATE fact SET v = v + 1 WHERE id = {n % 4000 + 1}")
            ask(p.config, f"SELECT * FROM feed WHERE who = {n % 9}", wait=n % 4 == 0)
            ask(p.config, f"SELECT * FROM whole WHERE who = {n % 9}", wait=False)
        found = {a["view"]: a for a in measured(p.config)}
        shown = subprocess.run(
            [sys.executable, "-m", "pipelines.cli", "advise"], cwd=p.home, text=True, capture_output=True, check=True
        ).stdout
        plain = subprocess.run(
            [sys.executable, "-m", "pipelines.cli", "advise", "--json"], cwd=p.home, text=True, capture_output=True
        ).stdout
    assert re.fullmatch(r"target_lag = '1(0 s| min)'", found["sums"]["options"])
    assert found["feed"]["options"] == "strategy = 'partial', key = 'who'"
    assert "with keep_mirrors = false public.note would not be copied" in found["feed"]["saves"]
    assert found["whole"]["options"] == "strategy = 'partial', key = 'who'"
    assert "keep_mirrors" not in found["whole"]["saves"]  # another view needs the table
    assert re.search(r"ask by who, for \d of about \d+ values", found["feed"]["because"])
    assert re.search(r"sums: WITH \(target_lag = '1(0 s| min)'\)\n  It would save about", shown)
    assert all(len(x) <= 80 for x in shown.splitlines())
    assert {a["view"] for a in json.loads(plain)["advice"]} == {"sums", "feed", "whole"}
    p.write({"sums": "SELECT k, count(*) AS n, sum(v) AS s FROM fact GROUP BY k"}, found["sums"]["options"])
    p.deploy()  # what it says is taken
    p.catch_up()
    p.assert_equal()
