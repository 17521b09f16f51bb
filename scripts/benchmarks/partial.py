"""Partial views: articles and their votes, read by key as a web page reads them, 99 reads to a vote (Noria, chapter 6).

A running pipeline answers; which articles are read follows Zipf's law. Every answer of a sample is checked against the
view that is kept for every key.
"""

from __future__ import annotations

import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.capture import database
from benchmarks.latency import _connect, _tidemark, settings
from connectors.postgres.connection import connect
from pipelines.asking.client import RemoteReader

ARTICLES, VOTES = 1_000_000, 2_000_000  # at scale 1
EXPONENT, READS = 1.15, 0.99
CHECKED = 50  # reads between two that are checked
BATCHES = 500  # of one vote each, one after the other
QUERY = """SELECT a.id, a.title, a.body, (SELECT count(*) FROM vote v WHERE v.article = a.id) AS votes FROM article a"""
VIEW = "CREATE MATERIALIZED VIEW {name} WITH (engine = 'duckdb'{more}) AS\n" + QUERY + ";\n"
Say = Callable[[str], None]
FROM_SOURCE = ", keep_mirrors = false"
BEFORE, EACH = 4, 10_000  # reads of each article before anything is measured, and how many one statement asks for


def run(dsn: str, scale: float, operations: int, memory: list[str], work: Path, say: Say) -> dict[str, Any]:
    """Bytes, milliseconds and rates of a partial view for each bound of memory, beside one kept for every key."""
    articles, votes = int(ARTICLES * scale), int(VOTES * scale)
    out: dict[str, Any] = {"articles": articles, "votes": votes, "operations": operations, "exponent": EXPONENT}
    with database(dsn) as own:
        _tables(own, articles, votes)
        out["full"] = _full(own, work, articles, operations, say)
        out["partial"] = [_partial(own, work, articles, operations, m, "", say) for m in memory]
        out["partial"] += [_partial(own, work, articles, operations, m, FROM_SOURCE, say) for m in memory[-1:]]
    return out


def _tables(dsn: str, articles: int, votes: int) -> None:
    with connect(dsn) as c:
        c.execute("CREATE TABLE article (id int PRIMARY KEY, title text, body text)")
        c.execute("CREATE TABLE vote (id bigserial PRIMARY KEY, article int, who int)")
        c.execute("CREATE INDEX ON vote (article)")  # as whoever asks Postgres by it would have
        c.execute(
            "INSERT INTO article SELECT i, 'article ' || i, repeat(md5(i::text), 3) FROM generate_series(1, %s) i",
            (articles,),
        )
        c.execute(
            "INSERT INTO vote (article, who) SELECT 1 + (random() * %s)::int %% %s, i FROM generate_series(1, %s) i",
            (articles, articles, votes),
        )


@contextmanager
def _pipeline(
    dsn: str, work: Path, more: str, say: Say
) -> Iterator[tuple[RemoteReader, float, float, Callable[[], int]]]:
    """A pipeline that answers, the seconds that its deploy took, when that was done, and the bytes of its files."""
    with tempfile.TemporaryDirectory(dir=work, prefix="partial-") as folder:
        project = Path(folder)
        settings(dsn, project)
        (project / "views").mkdir()
        (project / "views" / "votes.sql").write_text(VIEW.format(name="votes", more=more))
        begun = time.perf_counter()
        subprocess.run(_tidemark(project, "deploy"), check=True, stdout=subprocess.DEVNULL)
        deployed = time.perf_counter()
        pipeline = subprocess.Popen(_tidemark(project, "run"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with _connect(project / "warehouse", pipeline) as reader:
                files = (project / "warehouse").glob
                yield (
                    reader,
                    deployed - begun,
                    time.perf_counter(),
                    lambda: sum(f.stat().st_size for f in files("tidemark.duckdb*")),
                )
        finally:
            pipeline.terminate()
            pipeline.wait(60)
            subprocess.run(_tidemark(project, "teardown", "--yes"), check=True, stdout=subprocess.DEVNULL)


def _ids(articles: int, n: int, seed: int = 7) -> list[int]:
    """Which articles are asked for: by rank as Zipf's law has it, ranks spread over the ids."""
    weights = 1.0 / np.arange(1, articles + 1) ** EXPONENT
    ranks = np.searchsorted(np.cumsum(weights) / weights.sum(), np.random.default_rng(seed).random(n))
    places = np.random.default_rng(1).permutation(articles)[np.minimum(ranks, articles - 1)]
    return [int(x) for x in places + 1]


def _full(dsn: str, work: Path, articles: int, operations: int, say: Say) -> dict[str, Any]:
    with _pipeline(dsn, work, "", say) as (reader, deploy, _, disk):
        took, per_second, _ = _drive(dsn, reader, _ids(articles, operations))
        batches = _batches(dsn, reader, _ids(articles, BATCHES, 9))
        size, files = sum(b for _, b in reader.sizes("votes").values()), disk()
    row = {
        "deploy": deploy,
        "bytes": size,
        "disk": files,
        "p50": _ms(took, 50),
        "p95": _ms(took, 95),
        "per_second": per_second,
        "batches": batches,
    }
    say(f"every key: deployed in {deploy:.1f} s, {_mb(size)} MB; p50 {row['p50']:.1f} ms, p95 {row['p95']:.1f}")
    return row


def _partial(dsn: str, work: Path, articles: int, operations: int, memory: str, also: str, say: Say) -> dict[str, Any]:
    more = f", strategy = 'partial', key = 'id', memory = '{memory}'{also}"
    with _pipeline(dsn, work, more, say) as (reader, deploy, ready, disk):
        reached = _warm(reader, _ids(articles, BEFORE * articles, 5))
        took, per_second, missed = _drive(dsn, reader, _ids(articles, operations))
        batches = _batches(dsn, reader, _ids(articles, BATCHES, 9))
        time.sleep(3)
        state = reader.state()["partial"]["votes"]
        size, files = sum(b for _, b in reader.sizes("votes").values()), disk()
    hits = [t for t, m in zip(took, missed, strict=True) if not m]
    misses = [t for t, m in zip(took, missed, strict=True) if m]
    row = {
        "memory": memory + (", no mirrors" if also else ""),
        "disk": files,
        "deploy": deploy,
        "bytes": size,
        "kept": state["bytes"],
        "keys": state["keys"],
        "evicted": state["evicted"],
        "hit_rate": 1 - len(misses) / max(1, len(missed)),
        "hit_p50": _ms(hits, 50),
        "hit_p95": _ms(hits, 95),
        "miss_p50": _ms(misses, 50),
        "miss_p95": _ms(misses, 95),
        "per_second": per_second,
        "batches": batches,
        "to_90": None if reached is None else reached - ready,
    }
    say(
        f"memory {row['memory']}: {row['keys']:,} keys, {_mb(row['kept'])} MB, {100 * row['hit_rate']:.1f} % hits; "
        f"hit p50 "
        f"{row['hit_p50']:.1f} ms, p95 {row['hit_p95']:.1f}; "
        f"miss p50 {row['miss_p50']:.1f}, p95 {row['miss_p95']:.1f}"
    )
    return row


def _ms(seconds: list[float], p: float) -> float:
    return float(np.percentile(np.array(seconds) * 1e3, p)) if seconds else 0.0


def _warm(reader: RemoteReader, ids: list[int]) -> float | None:
    """Reads many keys at a time; gives when 90 of 100 reads were hits."""
    reached = None
    for start in range(0, len(ids), EACH):
        some = ids[start : start + EACH]
        reader.query(f"SELECT * FROM votes WHERE id IN ({', '.join(map(str, sorted(set(some))))})")
        if reached is None and reader.filled < len(some) / 10:  # a key that is missing is asked for about once
            reached = time.perf_counter()
    return reached


def _drive(dsn: str, reader: RemoteReader, ids: list[int]) -> tuple[list[float], float, list[bool]]:
    """Seconds of each read, operations a second, and whether it was a miss."""
    took: list[float] = []
    missed: list[bool] = []
    chance, begun = random.Random(3), time.perf_counter()
    with connect(dsn) as c:
        for n, i in enumerate(ids):
            if chance.random() > READS:
                c.execute("INSERT INTO vote (article, who) VALUES (%s, %s)", (i, n))
            asked = time.perf_counter()
            got = reader.query(f"SELECT * FROM votes WHERE id = {i}")
            took.append(time.perf_counter() - asked)
            missed.append(reader.filled > 0)
            if got.num_rows != 1:
                raise SystemExit(f"partial: article {i} has {got.num_rows} rows")
            if n % CHECKED == 0:
                _check(c, reader, i)
    return took, len(ids) / (time.perf_counter() - begun), missed


def _batches(dsn: str, reader: RemoteReader, ids: list[int]) -> float:
    """Batches a second: a vote is committed when the one before can be read."""
    begun = time.perf_counter()
    with connect(dsn) as c:
        for n, i in enumerate(ids):
            c.execute("INSERT INTO vote (article, who) VALUES (%s, %s)", (i, n))
            _follow(c, reader)
    return len(ids) / (time.perf_counter() - begun)


def _follow(c: Any, reader: RemoteReader) -> None:
    """The pipeline is where Postgres is."""
    reader.wait(c.execute("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn").fetchone()[0].__int__())


def _check(c: Any, reader: RemoteReader, article: int) -> None:
    """The row is Postgres' own, once the view is where Postgres is."""
    _follow(c, reader)
    ours = reader.query(f"SELECT votes FROM votes WHERE id = {article}")["votes"][0].as_py()
    (theirs,) = c.execute("SELECT count(*) FROM vote WHERE article = %s", (article,)).fetchone()
    if ours != theirs:
        raise SystemExit(f"partial: article {article} has {ours} votes, and not {theirs}")


def page(r: dict[str, Any]) -> list[str]:
    """The part of docs/bench.md."""
    full, widest = r["full"], max(r["partial"], key=lambda p: p["keys"])
    whole = widest["kept"] / max(1, widest["keys"]) * r["articles"]
    first = ["every key", _mb(whole), f"{r['articles']:,}", "100 %"]
    rows = [[*first, *_took(full), "", "", _rate(full), _batch_rate(full), "", _s(full["deploy"])]]
    rows[0].append(_mb(full["disk"]))
    for p in r["partial"]:
        hits = f"{100 * p['hit_rate']:.1f} %"
        found = [f"{p[k]:.1f}" for k in ("hit_p50", "hit_p95", "miss_p50", "miss_p95")]
        kept = [p["memory"], _mb(p["kept"]), f"{p['keys']:,}"]
        rows.append([*kept, hits, *found, _rate(p), _batch_rate(p), _s(p["to_90"]), _s(p["deploy"]), _mb(p["disk"])])
    head = [
        "memory",
        "MB kept",
        "keys",
        "hits",
        "hit p50",
        "p95",
        "miss p50",
        "p95",
        "reads a second",
        "batches a second",
    ]
    head += ["to 90 % hits", "deploy", "MB of files"]
    return [
        "## Partial views",
        "",
        f"{r['articles']:,} articles with their votes, on DuckDB, read one by one through a running pipeline while "
        f"votes arrive: {100 * READS:g} % reads, which article by Zipf's law with exponent {r['exponent']}, "
        f"{r['operations']:,} operations, one reader. Milliseconds. MB of rows before compression; of the view that "
        f"has every key as many for each as in the others. Before that each article was read {BEFORE} times on "
        f"average by the same law, {EACH:,} reads a statement: until 90 of 100 found "
        "their article took the time under *to 90 % hits*. Without mirrors "
        "a miss is read from Postgres, which has an index for it. *Batches a second* are of one vote each, committed "
        "when the one before can be read. One of "
        f"{CHECKED} answers was compared with Postgres' own.",
        "",
        f"| {' | '.join(head)} |",
        "|" + "---|" * len(head),
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
        "![How much is kept, how many reads find it, and how long they take](partial.png)",
        "",
    ]


def _mb(size: float) -> str:
    return f"{size / 1e6:.1f}"


def _rate(row: dict[str, Any]) -> str:
    return f"{row['per_second']:.0f}"


def _batch_rate(row: dict[str, Any]) -> str:
    return f"{row['batches']:.0f}" if "batches" in row else "–"


def _took(full: dict[str, Any]) -> tuple[str, str]:
    return f"{full['p50']:.1f}", f"{full['p95']:.1f}"


def _s(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds:.1f} s"
