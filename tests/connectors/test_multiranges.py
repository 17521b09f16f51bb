"""Multiranges in columns, and those that views make of ranges: bookings of rooms, and what is left free."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.errors import TidemarkError
from tests.project import Project

SCHEMA = (
    "CREATE TABLE booking (id int PRIMARY KEY, room text, during tsrange, days daterange, seats int4range)",
    "CREATE TABLE room (name text PRIMARY KEY, open tsmultirange NOT NULL, closed datemultirange, price nummultirange)",
    "INSERT INTO booking SELECT i, 'r' || i % 4, tsrange(timestamp '2024-05-01' + i * interval '50 minutes', "
    "timestamp '2024-05-01' + i * interval '50 minutes' + i % 5 * interval '1 hour'), "
    "daterange(date '2024-05-01' + i, date '2024-05-01' + i + i % 3), int4range(i % 7, i % 7 + i % 4, '[]') "
    "FROM generate_series(1, 60) i",
    "INSERT INTO booking (id, room) VALUES (61, 'r1'), (62, 'nothing')",
    "INSERT INTO booking VALUES (63, 'empty', 'empty', 'empty', 'empty'), (64, NULL, '(,)', '[2024-01-01,)', '(,3]')",
    "INSERT INTO room VALUES ('r0', '{[2024-05-01 08:00,2024-05-01 20:00),[2024-05-02 08:00,2024-05-02 12:30]}', "
    "'{[2024-05-04,2024-05-06)}', '{[1.0,2.50)}'), ('r1', '{}', '{}', '{[1,2.5)}'), ('r2', '{(,)}', NULL, "
    "'{(,0),(3,)}'), ('r3', '{(2024-05-01 00:00:00.5,)}', '{(,2024-05-03),[2024-06-01,)}', NULL)",
)
VIEWS = {
    "taken": "SELECT room, range_agg(during) AS taken, count(*) AS n FROM booking GROUP BY room",
    "busy": "SELECT room, unnest(range_agg(days)) AS days FROM booking GROUP BY room",
    "seats": "SELECT range_agg(seats) FILTER (WHERE id < 9) AS few, range_intersect_agg(seats) AS common FROM booking",
    "free": "SELECT r.name, r.open - coalesce(range_agg(b.during), '{}') AS free FROM room r "
    "LEFT JOIN booking b ON b.room = r.name GROUP BY r.name, r.open",
    "gaps": "SELECT g.name, lower(u) AS since, upper(u) AS until FROM (SELECT r.name, r.open - range_agg(b.during) "
    "AS m FROM room r JOIN booking b ON b.room = r.name GROUP BY r.name, r.open) g CROSS JOIN LATERAL unnest(g.m) AS u",
    "held": "SELECT r.name, b.id FROM room r JOIN booking b ON r.open @> b.during AND NOT isempty(b.during)",
    "closed": "SELECT name, closed, closed @> date '2024-05-04' AS c, to_json(closed) AS j FROM room",
    "kinds": "SELECT closed, count(*) AS n FROM room GROUP BY closed",
    "all_open": "SELECT range_agg(open) AS whole, range_merge(range_agg(open)) AS span FROM room",
    "same": "SELECT a.name, b.name AS other FROM room a JOIN room b ON a.price = b.price AND a.name < b.name",
    "price": "SELECT name, price, price @> 2.0 AS two, lower(price) IS NULL AS low FROM room WHERE price && '{[2,9]}'",
    "windowed": "SELECT id, room, range_agg(seats) OVER (PARTITION BY room) AS seats FROM booking",
}
CHANGES = (
    "UPDATE booking SET during = NULL WHERE id % 7 = 0",
    "DELETE FROM booking WHERE id % 5 = 1",
    "UPDATE room SET open = open + '{[2024-05-03 08:00,2024-05-03 09:00)}', closed = '{[2024-05-04,2024-05-09)}'",
    "UPDATE room SET price = '{[1.00,2.5)}' WHERE name = 'r2'",
    "INSERT INTO booking VALUES (100, 'r9', '[2024-05-02 10:00,2024-05-02 10:00]', '[2024-05-02,2024-05-05]', '[3,3]')",
)


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def test_they_are_what_they_are_in_postgres(engine: str, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS, engine=engine)
    p.source(*SCHEMA)
    p.deploy()
    p.assert_equal()
    for change in CHANGES:
        p.source(change)
        p.assert_equal()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT price, count(*) AS n FROM room GROUP BY price",
        "SELECT name FROM room ORDER BY open LIMIT 2",
        "SELECT name FROM room WHERE closed < '{[2024-01-01,2024-01-02)}'",
        "SELECT name FROM room WHERE open @> 5",
        "SELECT range_agg(name) AS r FROM room",
        "SELECT max(open) AS m FROM room",
        "SELECT range_intersect_agg(open) AS m FROM room",
        "SELECT name FROM room WHERE open && '{[2024-01-01}'",
    ],
)
def test_what_has_no_meaning_here_is_refused(query: str, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": query})
    p.source(*SCHEMA)
    with pytest.raises(TidemarkError, match="is not supported|does not exist|malformed"):
        p.deploy()
