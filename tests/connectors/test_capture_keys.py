"""Keys of a real Postgres that are hard to follow: out of line, deferrable, written in several ways, of any type."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.errors import TidemarkError
from pipelines.asking.ask import ask
from tests.project import Project

# out of line, and still an index's
LONG = "(SELECT left(string_agg(md5(({} * 1000 + i)::text), '' ORDER BY i), 2600) FROM generate_series(1, 90) i)"
FOLLOWED = {
    "out of line": (
        "CREATE TABLE t (k text PRIMARY KEY, v int)",
        f"INSERT INTO t SELECT {LONG.format('n')}, n FROM generate_series(1, 4) n",
        "UPDATE t SET v = v + 10",
        "UPDATE t SET v = 0 WHERE v = 11",
        "DELETE FROM t WHERE v = 12",
    ),
    "out of line, by index": (
        "CREATE TABLE t (id int PRIMARY KEY, k text NOT NULL UNIQUE, v int); ALTER TABLE t REPLICA IDENTITY USING "
        "INDEX t_k_key",
        f"INSERT INTO t SELECT n, {LONG.format('n')}, n FROM generate_series(1, 4) n",
        "UPDATE t SET v = v + 10",
        "DELETE FROM t WHERE v = 12",
    ),
    "deferrable": (
        "CREATE TABLE t (k int PRIMARY KEY DEFERRABLE, v text); ALTER TABLE t REPLICA IDENTITY FULL",
        "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')",
        "UPDATE t SET k = CASE k WHEN 1 THEN 2 ELSE 1 END WHERE k < 3",
        "UPDATE t SET k = k + 1",
        "UPDATE t SET k = 7 - k; DELETE FROM t WHERE k = 4; INSERT INTO t VALUES (4, 'd'), (9, NULL)",
    ),
    "numeric": (
        "CREATE TABLE t (k numeric PRIMARY KEY, v int)",
        "INSERT INTO t VALUES (1.0, 1), (2.0, 2), (3.5, 3)",
        "UPDATE t SET k = 1.00 WHERE k = 1",
        "BEGIN; DELETE FROM t WHERE k = 2; INSERT INTO t VALUES (2.00, 7); COMMIT",
        "UPDATE t SET v = v + 1",
    ),
    "double precision": (
        "CREATE TABLE t (k float8 PRIMARY KEY, v int)",
        "INSERT INTO t VALUES ('-0', 1), ('NaN', 2), (1e300, 3)",
        "UPDATE t SET k = 0 WHERE k = 0",
        "DELETE FROM t WHERE k = 'NaN'",
    ),
    "with other columns": (
        "CREATE TABLE t (k int, v int, PRIMARY KEY (k) INCLUDE (v))",
        "INSERT INTO t VALUES (1, 1), (2, 2)",
        "INSERT INTO t VALUES (3, 3)",
        "UPDATE t SET v = 9 WHERE k = 1",
        "DELETE FROM t WHERE k = 2",
    ),
    "of partitions": (
        "CREATE TABLE t (k int PRIMARY KEY, v int) PARTITION BY LIST (k); CREATE TABLE t1 PARTITION OF t FOR VALUES "
        "IN (1, 2); "
        "CREATE TABLE t2 PARTITION OF t DEFAULT; ALTER TABLE t2 REPLICA IDENTITY FULL",
        "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)",
        "UPDATE t SET v = v + 1",
        "UPDATE t SET k = k + 10",
        "DELETE FROM t WHERE k = 13",
    ),
    "interval": (
        "CREATE TABLE t (k interval PRIMARY KEY, v int)",
        "INSERT INTO t VALUES ('1 mon -3 days 04:00', 1), ('1 day', 2), ('00:00:01.5', 3)",
        "UPDATE t SET v = 3 WHERE v = 1",
        "DELETE FROM t WHERE v = 2",
        "UPDATE t SET k = k + interval '1 day'",
    ),
    "array": (
        "CREATE TABLE t (k int[] PRIMARY KEY, v int)",
        "INSERT INTO t VALUES ('{1,2}', 1), ('{}', 2), ('{NULL,3}', 3)",
        "UPDATE t SET v = v + 1",
        "DELETE FROM t WHERE k = '{}'",
        "UPDATE t SET k = k || 9",
    ),
    "none, and intervals": (
        "CREATE TABLE t (v int, k interval); ALTER TABLE t REPLICA IDENTITY FULL",
        "INSERT INTO t VALUES (1, '1 mon'), (1, '30 days'), (1, '1 day'), (1, '24:00'), (1, '1 day')",
        "DELETE FROM t WHERE k::text = '30 days'; DELETE FROM t WHERE ctid = (SELECT max(ctid) FROM t WHERE k::text = "
        "'1 day')",
        "UPDATE t SET k = '24:00' WHERE k::text = '1 day'",
    ),
}
READ = {"interval": "extract(day FROM k) AS d, extract(month FROM k) AS m, extract(hour FROM k) AS h, v"}


@pytest.mark.parametrize("case", FOLLOWED)
def test_a_key_is_followed(database: str, tmp_path: Path, case: str) -> None:
    table, load, *changes = FOLLOWED[case]
    p = Project.create(
        tmp_path,
        database,
        {
            "copy": f"SELECT {READ['interval'] if 'interval' in case else 'k, v'} FROM t",
            "totals": "SELECT count(*) AS n, count(v) AS w FROM t",
        },
    )
    p.source(table, load)
    p.deploy()
    p.assert_equal()
    for c in changes:
        p.source(c)
        p.assert_equal()


REFUSED = {
    "deferrable": (
        "CREATE TABLE t (id int PRIMARY KEY DEFERRABLE, v int)",
        "no replica identity",
        "a deferrable primary key is none",
    ),
    "partition": (
        "CREATE TABLE t (id int, v int) PARTITION BY LIST (id); "
        "CREATE TABLE t1 PARTITION OF t DEFAULT; ALTER TABLE t REPLICA IDENTITY FULL",
        "no replica identity",
        "each partition has its own",
    ),
    "partitions with others": (
        "CREATE TABLE t (id int PRIMARY KEY, v int) PARTITION BY LIST (id); "
        "CREATE TABLE t1 PARTITION OF t DEFAULT; ALTER TABLE t REPLICA IDENTITY FULL",
        "no replica identity",
        "has its own",
    ),
    "a root without": (
        "CREATE TABLE t (id int, v int) PARTITION BY LIST (id); "
        "CREATE TABLE t1 PARTITION OF t DEFAULT; ALTER TABLE t1 REPLICA IDENTITY FULL",
        "no replica identity",
        "has its own",
    ),
    "generated": (
        "CREATE TABLE t (a int, id int GENERATED ALWAYS AS (a * 2) STORED PRIMARY KEY, v int)",
        'the generated column "id"',
        "does not send",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_table_whose_rows_cannot_be_followed_is_refused_before_its_writers_are_stopped(
    database: str, tmp_path: Path, case: str
) -> None:
    table, message, detail = REFUSED[case]
    p = Project.create(tmp_path, database, {"v": "SELECT v FROM t", "other": "SELECT id FROM o"})
    p.source(table, "CREATE TABLE o (id int PRIMARY KEY)")
    with pytest.raises(TidemarkError, match=message) as e:
        p.deploy()
    assert detail in str(e.value.detail)
    assert p.source("UPDATE t SET v = 1") is None
    assert [v.name for v in p.deploy(keep_going=True).views if v.error is None] == ["other"]


ALTERED = {
    "renamed": (
        "BEGIN; ALTER TABLE t RENAME TO t_old; CREATE TABLE t (id int PRIMARY KEY, a int, b int); COMMIT",
        "is not the table that was deployed",
    ),
    "dropped and created": (
        "DROP TABLE t; CREATE TABLE t (id int PRIMARY KEY, a int, b int)",
        "is not the table that was deployed",
    ),
    "dropped": ("DROP TABLE t", "is not the table that was deployed"),
    "columns swapped": (
        "ALTER TABLE t RENAME a TO c; ALTER TABLE t RENAME b TO a; ALTER TABLE t RENAME c TO b; UPDATE t SET a = 7",
        "is not the one that was deployed",
    ),
    "type": ("ALTER TABLE t ALTER a TYPE text", "has another type"),
    "added again": ("ALTER TABLE t DROP b; ALTER TABLE t ADD b int DEFAULT 3", "is not the one that was deployed"),
    "key": ("ALTER TABLE t DROP CONSTRAINT t_pkey; ALTER TABLE t ADD PRIMARY KEY (a)", "primary key of"),
    "identity": (
        "CREATE UNIQUE INDEX t_b ON t (b); ALTER TABLE t ALTER b SET NOT NULL; ALTER TABLE t REPLICA IDENTITY USING "
        "INDEX t_b; "
        "DELETE FROM t WHERE id = 1",
        "replica identity of",
    ),
}


@pytest.mark.parametrize("case", ALTERED)
def test_a_table_that_was_altered_stops_its_views(database: str, tmp_path: Path, case: str) -> None:
    change, message = ALTERED[case]
    p = Project.create(tmp_path, database, {"copy": "SELECT id, a, b FROM t", "other": "SELECT id FROM o"})
    p.source("CREATE TABLE t (id int PRIMARY KEY, a int, b int)", "INSERT INTO t VALUES (1, 2, 3), (4, 5, 6)")
    p.source("CREATE TABLE o (id int PRIMARY KEY)")
    p.deploy()
    p.source(change, "INSERT INTO o VALUES (1)")
    p.catch_up()
    assert {v.name for v in p.deployed.views if message in v.error} == {"copy"}
    with pytest.raises(TidemarkError, match="is set aside") as e:
        ask(p.config, "SELECT count(*) AS n FROM copy", False)
    assert "tidemark deploy" in str(e.value.hint)
    assert ask(p.config, "SELECT count(*) AS n FROM other", False).to_pylist() == [{"n": 1}]


HARMLESS = (
    "ALTER TABLE t ALTER v TYPE varchar(40)",
    "ALTER TABLE t ADD c int",
    "ALTER TABLE t RENAME CONSTRAINT t_pkey TO other",
    "ALTER TABLE bare ADD PRIMARY KEY (id)",
    "CREATE INDEX ON t (v)",
    "VACUUM FULL t",
    "ALTER TABLE t ALTER v SET NOT NULL",
)


def test_changes_that_do_not_matter_do_not_stop_the_run(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id, v FROM t", "w": "SELECT id FROM bare"})
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, v varchar(10))",
        "INSERT INTO t VALUES (1, 'x'), (2, 'y')",
        "CREATE TABLE bare (id int NOT NULL); ALTER TABLE bare REPLICA IDENTITY FULL",
        "INSERT INTO bare VALUES (1)",
    )
    p.deploy()
    for i, change in enumerate(HARMLESS):
        p.source(
            change,
            f"INSERT INTO t (id, v) VALUES ({i + 10}, 'more')",
            f"INSERT INTO bare VALUES ({i + 10})",
            "DELETE FROM bare WHERE id = 1",
        )
        p.catch_up()
        p.assert_equal()


def test_the_sign_of_zero_outlives_a_checkpoint(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"copy": "SELECT id, g, f::text AS f FROM t"})
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, g int, f float8)",
        "INSERT INTO t VALUES (1, 1, 0), (2, 1, '-0'), (3, 1, '-0'), (5, 1, 7)",
    )
    p.deploy()
    p.source("UPDATE t SET g = 2 WHERE id < 3")
    p.assert_equal()
