"""Years before Christ, infinities and NaN, in what views make of them."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.project import Project

SCHEMA = "CREATE TABLE e (id int PRIMARY KEY, g int, d date, t timestamp, tz timestamptz, v float8, w float8)"
ROWS = (
    "INSERT INTO e VALUES (1, 1, '0044-03-15 BC', '0044-03-15 01:02 BC', '0044-03-15 00:00+00 BC', 'Infinity', 1)",
    "INSERT INTO e VALUES (2, 1, 'infinity', 'infinity', 'infinity', 2, 3), (3, 1, NULL, NULL, NULL, NULL, 4)",
    "INSERT INTO e VALUES (4, 2, '2024-02-29', '2024-02-29 10:00:00.5', '2024-02-29 10:00+02', 4, 5), "
    "(5, 2, '-infinity', '-infinity', '-infinity', 5.5, 7), (6, 3, '0001-12-31 BC', '0001-12-31 BC', now(), 'NaN', 1)",
    "INSERT INTO e SELECT 10 + i, 4 + i % 3, '2024-01-01', '2024-01-01', '2024-01-01', i * 1.25, i % 4 FROM "
    "generate_series(1, 20) i",
)
TEXTS = (
    "SELECT id, d::text AS d, t::text AS t, tz::text AS z, ARRAY[t, NULL]::text AS ts, ARRAY[tz]::text AS zs, "
    "'x' || d AS x, to_json(d)::text AS jd, to_json(t)::text AS jt, to_jsonb(tz) AS jz, "
    "json_build_object('x', tz, 'y', t)::text AS o FROM e"
)
SPREADS = (
    "SELECT g, stddev(v) AS s, stddev_pop(v) AS sp, variance(v) AS x, var_pop(v) AS xp, corr(v, w) AS c, "
    "regr_slope(v, w) AS sl, regr_intercept(w, v) AS i, regr_r2(v, w) AS r, regr_sxx(w, v) AS sx, "
    "regr_syy(v, w) AS sy FROM e GROUP BY g"
)
OVER = "SELECT id, stddev(v) OVER (PARTITION BY g) AS s, corr(v, w) OVER (PARTITION BY g) AS c FROM e"
MIDDLES = (
    "SELECT g, percentile_cont(0.5) WITHIN GROUP (ORDER BY v) AS m, percentile_cont(1.0) WITHIN GROUP (ORDER BY v) AS "
    "l, percentile_cont(0.25) WITHIN GROUP (ORDER BY v) AS q FROM e GROUP BY g"
)
VIEWS = {"texts": TEXTS, "spreads": SPREADS, "over_groups": OVER, "middles": MIDDLES}


@pytest.mark.parametrize("rows_first", [True, False])
def test_they_are_as_in_postgres(rows_first: bool, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS)
    p.source(SCHEMA, *(ROWS if rows_first else ()))
    p.deploy()
    p.source(*(() if rows_first else ROWS))
    p.assert_equal()
    p.source("UPDATE e SET v = 'Infinity' WHERE id = 12", "UPDATE e SET v = 1 WHERE id IN (1, 6)")
    p.source("UPDATE e SET t = '4000-01-01 BC' WHERE id = 13", "DELETE FROM e WHERE id = 2")
    p.assert_equal()


def test_what_differs_is_told(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id, t, tz, d, ARRAY[t] AS ts FROM e WHERE id = 1"})
    p.source(SCHEMA, *ROWS)
    p.deploy()
    p.source("UPDATE e SET t = t - interval '1 day' WHERE id = 1")
    p.catch_up()
    with duckdb.connect(str(p.config.warehouse_path / "tidemark.duckdb")) as con:
        states = con.execute("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'state'").fetchall()
        con.execute(f'DELETE FROM state."{states[0][0]}"')
    (found,) = (r for r in p.verify() if not r.mirror)
    assert not found.equal and "(BC)" in found.line(), found.line()
