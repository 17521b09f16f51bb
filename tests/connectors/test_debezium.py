"""The same changes through Debezium's engine: every exact type, every kind of change; what its events do not carry
is refused."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pyarrow as pa
import pytest

from compiler.catalog import parse_type
from connectors.debezium.events import EventDecoder
from connectors.debezium.values import exact
from connectors.postgres.connection import format_lsn
from pipelines.applying.capture import Capture
from pipelines.applying.catching_up import limits
from pipelines.warehouse import Warehouse
from tests.connectors.fresh import fresh_database
from tests.connectors.test_capture_types import ALL
from tests.pipelines.running import running, until
from tests.project import Project

EDGES: dict[str, list[str]] = {
    "date": ["'infinity'", "'-infinity'", "'0044-03-15 BC'", "'0001-01-01 BC'", "'99999-12-31'"],
    "time": ["'24:00:00'", "'00:00:00.000001'"],
    "timestamp": ["'infinity'", "'-infinity'", "'0044-03-15 10:00:00.5 BC'", "'20000-01-01 00:00:00.000001'"],
    "timestamptz": [
        "'infinity'",
        "'-infinity'",
        "'0044-03-15 10:00:00.5+00 BC'",
        "'0001-12-31 23:00:00+00 BC'",
        "'20000-01-01 00:00:00Z'",
    ],
    "interval": ["'-1 year -2 mons +3 days -04:05:06.5'", "'100 years'", "'-0.5 s'"],
    "json": ["'[1.0, 1e400, \"\\u00e9\"]'", "'  1 '"],
    "bytea": ["''", "'\\x22'"],
    "text": ["'\"}]'", "E'\\u2028\\x7f'"],
}
INEXACT = [
    "text[]",
    "int[]",
    "timestamp[]",
    "mood[]",
    "interval[]",
    "jsonb[]",
    "name[]",
    "money",
    "bit(3)",
    "timetz",
    "point",
    "tstzrange",
    "tstzmultirange",
    "moment",
]
LABELS = {"mood": ("sad", "ok", 'it\'s, "fine"')}
VALUES = {t: [*ALL[t], *EDGES.get(t, [])] for t in ALL if exact(parse_type(t, LABELS))}
VALUES["bytea"].append("(SELECT string_agg(sha256(i::text::bytea), ''::bytea) FROM generate_series(1, 300) i)")
MANY = "(SELECT range_agg({0}(i * 10 + (hashtext(i::text) & 3), i * 10 + 5)) FROM generate_series(1, 3000) i)"
VALUES |= {
    "int4multirange": ["'{[1,3),[5,8)}'", "'{}'", MANY.format("int4range"), "'{(,)}'"],
    "nummultirange": ["'{[1.50,2],(7,)}'", "'{[-Infinity,1)}'", MANY.format("numrange")],
    "tsmultirange": ["'{[2024-01-01,infinity]}'", "'{}'", "'{(\"0044-03-15 10:00:00.5 BC\",)}'"],
    "place": [
        '\'(1,"a ""q"" ü\\\\",2.50)\'',
        "'(,,NaN)'",
        "'(,\"\",)'",
        "ROW(7, (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 300) i), 1)::place",
    ],
    "pg_lsn": ["'0/16'", "'FFFFFFFF/FFFFFFFF'", "'0/0'"],
}
NAMES = {t: f"t{i}" for i, t in enumerate(VALUES)}


@pytest.fixture(scope="module")
def typed(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with fresh_database(server, "debezium_types") as dsn:
        views = {n: f"SELECT id, v FROM {n}s" for n in NAMES.values()}
        p = Project.create(tmp_path_factory.mktemp("types"), dsn, views, capture="debezium")
        p.source(
            "CREATE TYPE mood AS ENUM ('sad', 'ok', 'it''s, \"fine\"')",
            "CREATE TYPE place AS (x int, y text, z numeric)",
            *(f"CREATE TABLE {n}s (id int PRIMARY KEY, v {t}, n int)" for t, n in NAMES.items()),
        )
        p.deploy()
        for t, n in NAMES.items():
            p.source(
                *(f"INSERT INTO {n}s VALUES ({i}, {v})" for i, v in enumerate(VALUES[t], 1)),
                f"INSERT INTO {n}s VALUES (100, NULL)",
            )
        p.catch_up()
        p.source(*(f"UPDATE {n}s SET n = 1" for n in NAMES.values()))  # long values are not sent again
        p.source(*(f"UPDATE {n}s SET id = id + 1000 WHERE id > 2" for n in NAMES.values()))
        yield p


def test_every_type_arrives_as_postgres_holds_it(typed: Project) -> None:
    typed.catch_up()
    typed.assert_equal()
    assert {r.view: r.rows for r in typed.verify() if not r.mirror} == {n: len(VALUES[t]) + 1 for t, n in NAMES.items()}


def test_types_whose_values_events_do_not_tell_apart_are_refused(database: str, tmp_path: Path) -> None:
    views = {f"v{i}": f"SELECT id, a FROM t{i}" for i in range(len(INEXACT))}
    p = Project.create(tmp_path, database, {**views, "fine": "SELECT id FROM fine"}, capture="debezium")
    p.source(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE TYPE moment AS (x int, at timestamptz[])",
        "CREATE TABLE fine (id int PRIMARY KEY)",
        *(f"CREATE TABLE t{i} (id int PRIMARY KEY, a {t})" for i, t in enumerate(INEXACT)),
    )
    checked = p.command("check")
    done = p.deploy(keep_going=True)
    p.assert_equal()
    assert {v.name for v in done.views if v.error is None} == {"fine"} and checked.returncode == 1
    for i in range(len(INEXACT)):
        assert f'column "a" of "public.t{i}" cannot be read through Debezium' in checked.stderr, checked.stderr


def test_what_was_deployed_for_the_stream_may_not_suit_events(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id, a FROM t"})
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL UNIQUE)",
        "ALTER TABLE t REPLICA IDENTITY USING INDEX t_a_key",
    )
    p.deploy()
    toml = tmp_path / "tidemark.toml"
    toml.write_text(toml.read_text().replace('"stream"', '"debezium"'))
    done = p.command("run", "--once")
    assert (
        done.returncode == 1 and "events name rows by the primary key" in done.stderr and "Traceback" not in done.stderr
    ), done.stderr
    p.source("ALTER TABLE t REPLICA IDENTITY DEFAULT")


def test_a_slot_that_is_gone_is_not_made_again(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id, a FROM t"}, capture="debezium")
    p.source("CREATE TABLE t (id int PRIMARY KEY, a int)")
    p.deploy()
    p.source("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = current_database()")
    done = p.command("run", "--once")
    assert done.returncode == 1 and "is gone" in done.stderr and "Traceback" not in done.stderr, done.stderr


ALTERED = {
    "FULL to DEFAULT": ("whole", ["ALTER TABLE whole REPLICA IDENTITY DEFAULT"], "replica identity"),
    "DEFAULT to FULL": ("plain", ["ALTER TABLE plain REPLICA IDENTITY FULL"], "replica identity"),
    "DEFAULT to INDEX": (
        "plain",
        ["CREATE UNIQUE INDEX i ON plain (n)", "ALTER TABLE plain REPLICA IDENTITY USING INDEX i"],
        "replica identity",
    ),
    "another key": (
        "plain",
        ["ALTER TABLE plain DROP CONSTRAINT plain_pkey", "ALTER TABLE plain ADD PRIMARY KEY (n)"],
        "primary key",
    ),
    "another type": ("plain", ["ALTER TABLE plain ALTER a TYPE numeric(10,2)"], "another type"),
    "stricter": ("loose", ["UPDATE loose SET a = 7", "ALTER TABLE loose ALTER a SET NOT NULL"], "made NOT NULL"),
}


@pytest.mark.parametrize("what", ALTERED)
def test_a_table_that_was_altered_is_noticed_before_its_events_are_read(
    database: str, tmp_path: Path, what: str
) -> None:
    table, statements, told = ALTERED[what]
    views = {"v": f"SELECT * FROM {table}", "other": "SELECT id, x FROM other"}
    p = Project.create(tmp_path, database, views, capture="debezium")
    p.source(
        "CREATE TABLE plain (id int PRIMARY KEY, n int NOT NULL, a int)",
        "CREATE TABLE whole (id int PRIMARY KEY, a int)",
        "CREATE TABLE loose (id int, a int)",
        "CREATE TABLE other (id int PRIMARY KEY, x int)",
        "ALTER TABLE whole REPLICA IDENTITY FULL",
        "ALTER TABLE loose REPLICA IDENTITY FULL",
        "INSERT INTO plain VALUES (1, 1, 1), (2, 2, NULL)",
        "INSERT INTO whole VALUES (1, 1)",
        "INSERT INTO loose VALUES (1, NULL), (1, NULL)",
    )
    p.deploy()
    with running(p, 60) as process:
        p.source(*statements, f"DELETE FROM {table} WHERE id = 1", "INSERT INTO other VALUES (1, 1)")
        got = p.command("query", "--wait", "SELECT x FROM other", "--format", "csv")
        assert got.stdout.split() == ["x", "1"], got.stderr
        assert process.poll() is None
    stopped = {v.name: v.error for v in p.deployed.views if v.error}
    assert set(stopped) == {"v"} and told in stopped["v"]
    assert {r.view for r in p.verify() if not r.equal} == {"v"}
    if what != "DEFAULT to INDEX":  # which events do not suit
        p.deploy()
        p.source(f"INSERT INTO {table} (id, a) VALUES (7, 7)" if table != "plain" else "DELETE FROM plain")
        p.assert_equal()


def test_keys_of_tables_with_whole_old_images_are_what_counts(database: str, tmp_path: Path) -> None:
    """Old images are read with the columns of today: a NULL is 0 where the column has become NOT NULL since."""
    p = Project.create(tmp_path, database, {"v": "SELECT id, a, s FROM t"}, capture="debezium")
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, a int, s text)",
        "ALTER TABLE t REPLICA IDENTITY FULL",
        "INSERT INTO t SELECT g FROM generate_series(1, 5) g",
    )
    p.deploy()
    p.source(
        "UPDATE t SET a = 7, s = 'x'",
        "ALTER TABLE t ALTER a SET NOT NULL",
        "ALTER TABLE t ALTER s SET NOT NULL",
        "DELETE FROM t WHERE id = 3",
    )
    p.catch_up()
    p.assert_equal()


def test_settings_of_the_database_do_not_change_values(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT * FROM t"}, capture="debezium")
    name = psycopg.conninfo.conninfo_to_dict(database)["dbname"]
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, i interval, f float8, r float4, b bytea, d date, t timestamptz)",
        "ALTER TABLE t REPLICA IDENTITY FULL",
        *(
            f"ALTER DATABASE {name} SET {s}"
            for s in (
                "intervalstyle = 'sql_standard'",
                "extra_float_digits = 0",
                "bytea_output = 'escape'",
                "datestyle = 'German'",
                "timezone = 'Asia/Tokyo'",
            )
        ),
    )
    p.deploy()
    p.source(
        "INSERT INTO t VALUES (1, '-1 year 2 mons -3 days 04:05:06', 0.1::float8 + 0.2, 0.1::float4 + 0.2, "
        "'\\x00ff5c', '2024-02-03', now())",
        "INSERT INTO t SELECT 2, '1 day', 1, 1, '', '0044-03-15 BC', '2024-07-01'",
        "UPDATE t SET r = r * 3",
    )
    p.catch_up()
    p.assert_equal()


def test_settings_of_libpq_are_taken(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = psycopg.conninfo.conninfo_to_dict(database)
    for k, v in {"PGHOST": "host", "PGPORT": "port", "PGUSER": "user", "PGPASSWORD": "password"}.items():
        if v in known:
            monkeypatch.setenv(k, str(known[v]))
    p = Project.create(tmp_path, f"dbname={known['dbname']}", {"v": "SELECT * FROM t"}, capture="debezium")
    p.source("CREATE TABLE t (id int PRIMARY KEY)")
    p.deploy()
    p.source("INSERT INTO t VALUES (1)")
    p.catch_up()
    p.assert_equal()


def test_types_that_stop_the_engine_are_named(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id FROM t"}, capture="debezium")
    p.source("CREATE TABLE t (id int PRIMARY KEY)", "CREATE TYPE mood AS ENUM ('ok')", "CREATE DOMAIN temper AS mood")
    p.deploy()
    done = p.command("run", "--once")
    assert done.returncode == 1 and "Its type temper is" in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_a_value_out_of_range_is_named(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id, t FROM t"}, capture="debezium")
    p.source("CREATE TABLE t (id int PRIMARY KEY, t timestamp)")
    p.deploy()
    p.source("INSERT INTO t VALUES (1, '294276-12-31')")
    done = p.command("run", "--once")
    assert 'view "v" is set aside' in done.stderr and "out of range" in done.stderr and "Row id = 1" in done.stderr, (
        done.stderr
    )


def active(dsn: str) -> bool:
    with psycopg.connect(dsn) as c:
        return c.execute("SELECT active FROM pg_replication_slots WHERE database = current_database()").fetchone() == (
            True,
        )


def test_connections_that_break_are_opened_again(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id FROM t"}, capture="debezium")
    p.source("CREATE TABLE t (id int PRIMARY KEY)")
    p.deploy()
    with running(p, 60) as process:
        for i, backend in enumerate(("walsender", "client backend")):
            until(lambda: active(database), "the engine streams", 60)
            p.source(
                f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid "
                f"<> pg_backend_pid() "
                f"AND backend_type = '{backend}'",
                f"INSERT INTO t VALUES ({i})",
            )
            until(
                lambda i=i: p.command("query", "SELECT id FROM v", "--format", "csv").stdout.count("\n") == i + 2,
                "it goes on",
                90,
            )  # type: ignore[misc]
            assert process.poll() is None
    p.assert_equal()


def test_an_engine_that_is_still_starting_can_be_closed(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id FROM t"}, capture="debezium")
    p.source("CREATE TABLE t (id int PRIMARY KEY)")
    p.deploy()
    for after in range(10):
        warehouse = Warehouse(p.config, p.deployed)
        capture = Capture(warehouse, limits(p.config))
        time.sleep(after * 0.05)
        capture.close()
        warehouse.close()
    p.source("INSERT INTO t VALUES (1)")
    p.assert_equal()


def test_the_slot_moves_with_what_is_durable(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id, a FROM t"}, capture="debezium")
    p.source("CREATE TABLE t (id int PRIMARY KEY, a int)", "CREATE TABLE other (id int)")
    p.deploy()
    p.source(
        "INSERT INTO t SELECT g, g FROM generate_series(1, 1000) g",
        "INSERT INTO other SELECT generate_series(1, 10000)",
    )
    with psycopg.connect(database) as c:
        row = c.execute("SELECT pg_current_wal_lsn()").fetchone()
        assert row is not None
        p.catch_up()
        moved = c.execute(
            "SELECT confirmed_flush_lsn >= %s FROM pg_replication_slots WHERE database = current_database()", row
        ).fetchone()
    assert moved == (True,)
    p.assert_equal()


MIXED = {
    "wide": 'SELECT id, big, n, "a ""b/c~d.e" FROM "odd ""n.a/m~e"',
    "by_n": 'SELECT n, count(*) AS c, max(big) AS m FROM "odd ""n.a/m~e" GROUP BY n',
    "whole": "SELECT id, big, n FROM whole",
    "keyless": "SELECT t, count(*) AS c FROM keyless GROUP BY t",
    "parts": "SELECT id, n FROM parts",
}
TABLES = (
    'CREATE TABLE "odd ""n.a/m~e" (id int PRIMARY KEY, big text, n int, "a ""b/c~d.e" text)',
    'ALTER TABLE "odd ""n.a/m~e" ALTER big SET STORAGE EXTERNAL',
    "CREATE TABLE whole (id int PRIMARY KEY, big text, n int)",
    "ALTER TABLE whole ALTER big SET STORAGE EXTERNAL",
    "ALTER TABLE whole REPLICA IDENTITY FULL",
    "CREATE TABLE keyless (t text)",
    "ALTER TABLE keyless REPLICA IDENTITY FULL",
    "CREATE TABLE parts (id int PRIMARY KEY, n int) PARTITION BY RANGE (id)",
    "CREATE TABLE low PARTITION OF parts FOR VALUES FROM (0) TO (20)",
    "CREATE TABLE high PARTITION OF parts FOR VALUES FROM (20) TO (10000)",
)


def _change(r: random.Random) -> str:
    t = r.choice(['"odd ""n.a/m~e"', "whole", "parts"])
    i, j = r.randrange(40), r.randrange(40, 9000)
    big = (
        ""
        if t == "parts"
        else f", big = repeat('{r.choice('xyz')}', {r.choice([3, 9000])})"
        if r.random() < 0.3
        else ""
    )
    return r.choice(
        [
            f"INSERT INTO {t} (id, n) VALUES ({i}, {r.randrange(5)}) ON CONFLICT (id) DO NOTHING",
            f"UPDATE {t} SET n = {r.randrange(5)}{big} WHERE id = {i}",
            f"UPDATE {t} SET n = n + 1 WHERE id < {i}",
            f"UPDATE {t} SET id = {j} WHERE id = {i} AND NOT EXISTS (SELECT FROM {t} WHERE id = {j})",
            f"UPDATE {t} SET id = {i} WHERE id = (SELECT max(id) FROM {t} WHERE id >= 40) AND NOT EXISTS (SELECT FROM "
            f"{t} WHERE id = {i})",
            f"DELETE FROM {t} WHERE id IN ({i}, {j})",
            "INSERT INTO keyless VALUES ('a'), ('a'), (NULL)",
            "UPDATE keyless SET t = t || 'x' WHERE length(t) < 4",
            "DELETE FROM keyless WHERE t = 'axx'",
            r.choice([f"TRUNCATE {t}", "SELECT 1", "SELECT 1"]),
        ]
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_every_kind_of_change(database: str, tmp_path: Path, seed: int) -> None:
    r = random.Random(seed)
    p = Project.create(tmp_path, database, MIXED, capture="debezium")
    p.source(
        *TABLES,
        *(
            f"INSERT INTO {t} (id, n) SELECT g, g % 3 FROM generate_series(0, 30) g"
            for t in ('"odd ""n.a/m~e"', "whole", "parts")
        ),
    )
    p.deploy()
    for _ in range(4):
        with psycopg.connect(database) as c:
            for _ in range(12):
                with c.transaction(force_rollback=r.random() < 0.1):
                    for _ in range(r.randrange(1, 9)):
                        c.execute(_change(r))  # type: ignore[arg-type]
                c.commit()
        p.catch_up()
        p.assert_equal()
    p.source("ALTER TABLE whole ADD COLUMN more int", "INSERT INTO whole VALUES (77777, 'x', 1, 2)")
    p.catch_up()
    p.assert_equal()
    p.source("ALTER TABLE whole DROP COLUMN big", "INSERT INTO whole VALUES (77778, 1, 2)")
    done = p.command("run", "--once")
    assert done.returncode == 0 and 'no longer has column "big"' in done.stderr, done.stderr
    assert {v.name for v in p.deployed.views if v.error} == {"whole"}
    assert {r.view for r in p.verify() if not r.equal} == {"whole"}


def test_events_are_read_in_the_order_of_the_log() -> None:
    """A transaction's changes have the position before its end, whatever was between; events of other tables are
    none of ours."""
    from compiler.catalog import read_schema

    t = read_schema("CREATE TABLE t (id int PRIMARY KEY, a text)").tables[("public", "t")]
    source = '"source":{"schema":"public","table":"%s","lsn":%d}'
    frames = [
        f'{{"before":null,"after":{{"id":1,"a":"x"}},{source % ("t", 5)},"op":"c"}}',
        f'{{"after":{{"id":1}},{source % ("o", 6)},"op":"c"}}',
        f'{{"before":{{"id":1,"a":null}},"after":null,{source % ("t", 7)},"op":"d"}}',
        f'{{"before":null,"after":{{"id":2,"a":"?"}},{source % ("t", 7)},"op":"c"}}',
        '{"status":"END","id":"9:100"}',
        f'{{"before":null,"after":null,{source % ("t", 110)},"op":"t"}}',
        '{"status":"END","id":"10:200"}',
    ]
    decoder = EventDecoder([t], "?")
    decoded = decoder.decode([f.encode() for f in frames])
    ((oid, changes),) = decoded.changes.items()
    assert [(c.op.value, c.lsn.tolist(), c.seq.tolist()) for c in changes] == [("I", [99], [0]), ("U", [99], [3])]
    assert changes[1].old is not None and changes[1].old.columns[0].to_pylist() == ["1"] and changes[1].old_is_key
    assert changes[1].new is not None and changes[1].new.columns[1].to_pylist() == [None]
    assert [u.tolist() if u is not None else None for u in changes[1].new.unchanged] == [None, [True]]
    assert changes[0].new is not None and pa.types.is_string_view(changes[0].new.columns[0].type)
    assert decoded.truncated == {oid: (5, 199)} and decoded.transactions == 2 and decoded.rows == 2
    assert format_lsn(99) == "0/63"
