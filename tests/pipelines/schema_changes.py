"""What is altered in the source, which views stop for it, and how these read the table then."""

from __future__ import annotations

A, B, T = {"by_a", "joined"}, {"by_b"}, {"best", "by_a", "by_b", "joined", "moods"}
NEW = "CREATE TABLE t (id int PRIMARY KEY, a int, b int, mood mood); INSERT INTO t SELECT 1, 2, 3, 'sad'"
# what is done, the views that it stops, and how these read the table as it is now, where they have to
ALTERED: dict[str, tuple[str, set[str], dict[str, str]]] = {
    "add": ("ALTER TABLE t ADD more int DEFAULT 7", set(), {}),
    "drop unused": ("ALTER TABLE t DROP unused", set(), {}),
    "rename unused": ("ALTER TABLE t RENAME unused TO other", set(), {}),
    "retype unused": ("ALTER TABLE t ALTER unused TYPE int USING length(unused)", set(), {}),
    "unused dropped and added": ("ALTER TABLE t DROP unused; ALTER TABLE t ADD unused text", set(), {}),
    "drop": ("ALTER TABLE t DROP b", B, {"by_b": "SELECT a AS b, count(*) AS n FROM t GROUP BY a"}),
    "rename": ("ALTER TABLE t RENAME b TO b2", set(), {"by_b": "SELECT b2 AS b, count(*) AS n FROM t GROUP BY b2"}),
    "retype": ("ALTER TABLE t ALTER b TYPE bigint", B, {}),
    "retype to text": ("ALTER TABLE t ALTER b TYPE text", B, {}),
    "computed anew": ("ALTER TABLE t ALTER b TYPE int USING b * 2", B, {}),
    "rewritten": ("VACUUM FULL t", set(), {}),
    "a default": ("ALTER TABLE t ALTER b SET DEFAULT 3", set(), {}),
    "unused computed anew": ("ALTER TABLE t ALTER unused TYPE text USING upper(unused)", set(), {}),
    "added again": ("ALTER TABLE t DROP b; ALTER TABLE t ADD b int DEFAULT 3", B, {}),
    "swapped": (
        "ALTER TABLE t RENAME a TO c; ALTER TABLE t RENAME b TO a; ALTER TABLE t RENAME c TO b",
        A | B,
        {},
    ),
    "dropped, and another takes its name": (
        "ALTER TABLE t DROP a; ALTER TABLE t RENAME b TO a",
        A | B,
        {"by_b": "SELECT a AS b, count(*) AS n FROM t GROUP BY a"},
    ),
    "passed on": (
        "ALTER TABLE t RENAME b TO c; ALTER TABLE t RENAME a TO b",
        A | B,
        {
            "by_a": "SELECT b AS a, count(*) AS n FROM t GROUP BY b",
            "joined": "SELECT t.id, t.b AS a, u.v FROM t JOIN u ON u.k = t.b",
        },
    ),
    "labels": ("ALTER TYPE mood ADD VALUE 'glad' BEFORE 'ok'", {"best"}, {}),
    "key": ("ALTER TABLE t DROP CONSTRAINT t_pkey; ALTER TABLE t ADD PRIMARY KEY (id, a)", T, {}),
    "type of the key": ("ALTER TABLE t ALTER id TYPE bigint", T, {}),
    "identity": (
        "CREATE UNIQUE INDEX t_i ON t (a, id); ALTER TABLE t REPLICA IDENTITY USING INDEX t_i",
        T,
        {},
    ),
    "replaced": (f"DROP TABLE t; {NEW}", T, {}),
    "renamed and replaced": (f"ALTER TABLE t RENAME TO t_old; {NEW}", T, {}),
    "two in one": ("ALTER TABLE t DROP unused, ALTER b TYPE bigint, ADD c int", B, {}),
}

MADE = "CREATE TABLE part_4 PARTITION OF part FOR VALUES IN (4); INSERT INTO part VALUES (400, 4, 4)"
FILLED = "CREATE TABLE part_4 (LIKE part INCLUDING ALL); INSERT INTO part_4 VALUES (400, 4, 4)"
# of a partitioned table: what is done, and whether the views of the table have to stop for it
PARTITIONS = {
    "made": (MADE, False),
    "made in another": (
        "CREATE TABLE part_31 PARTITION OF part_3 FOR VALUES IN (3); INSERT INTO part VALUES (300, 3, 4)",
        False,
    ),
    "made and altered": (
        "BEGIN; CREATE TABLE part_4 PARTITION OF part FOR VALUES IN (4); ALTER TABLE part_4 ALTER v SET STATISTICS 7; "
        "INSERT INTO part VALUES (400, 4, 4); COMMIT",
        False,
    ),
    "attached": (f"{FILLED}|ALTER TABLE part ATTACH PARTITION part_4 FOR VALUES IN (4)", True),
    "attached at once": (f"BEGIN; {FILLED}; ALTER TABLE part ATTACH PARTITION part_4 FOR VALUES IN (4); COMMIT", True),
    "attached with partitions": (
        "CREATE TABLE part_4 (LIKE part INCLUDING ALL) PARTITION BY LIST (k)|CREATE TABLE part_40 PARTITION OF part_4 "
        "FOR VALUES IN (4); INSERT INTO part_4 VALUES (400, 4, 4)|ALTER TABLE part ATTACH PARTITION part_4 FOR VALUES "
        "IN (4)",
        True,
    ),
    "detached, changed and attached again": (
        "BEGIN; ALTER TABLE part DETACH PARTITION part_2; DELETE FROM part_2 WHERE id < 10; ALTER TABLE part ATTACH "
        "PARTITION part_2 FOR VALUES IN (2); COMMIT",
        True,
    ),
    "detached": ("ALTER TABLE part DETACH PARTITION part_2", True),
    "dropped": ("DROP TABLE part_30", True),
    "truncated": ("TRUNCATE part_2", True),
    "truncated in another": ("TRUNCATE part_3", True),
    "truncated by all names": ("TRUNCATE part_1, part_2, part_30", True),
    "truncated whole, and later by all names": ("TRUNCATE part||TRUNCATE part_1, part_2, part_30", True),
    "truncated whole, and at once by all names": (
        "TRUNCATE part; INSERT INTO part VALUES (401, 1, 7)|TRUNCATE part_1, part_2, part_30",
        True,
    ),
    "truncated whole, and one made since": (f"TRUNCATE part|{MADE}", False),
    "rewritten for a column that nothing reads": ("ALTER TABLE part ADD w bigserial", False),
    "truncated whole in a part of a transaction": (  # which nothing tells from one by all names
        "BEGIN; SAVEPOINT s; TRUNCATE part; RELEASE s; COMMIT",
        True,
    ),
    "truncated whole, after one was made": (f"{MADE}|TRUNCATE part", False),
    "truncated whole": ("TRUNCATE part; INSERT INTO part VALUES (401, 1, 7)", False),
    "computed anew": ("ALTER TABLE part ALTER v TYPE int USING v * 2", True),
    "rewritten": ("VACUUM FULL part_1", True),  # which nothing tells from a TRUNCATE
    "cleaned": ("VACUUM ANALYZE part", False),
    "made, filled and dropped": (f"{MADE}|DROP TABLE part_4", True),
    "made, filled and dropped at once": (f"BEGIN; {MADE}; DROP TABLE part_4; COMMIT", True),
    "made, filled and detached": (f"{MADE}|ALTER TABLE part DETACH PARTITION part_4", True),
    "made in another, filled and dropped": (
        "CREATE TABLE part_31 PARTITION OF part_3 FOR VALUES IN (3); INSERT INTO part VALUES (300, 3, 4)|DROP TABLE "
        "part_3",
        True,
    ),
    "made, filled and truncated": (f"{MADE}|TRUNCATE part_4", True),
    "made, and dropped later": (
        f"{MADE}||DROP TABLE part_4",
        True,
    ),
}
