"""The order-book queries of the DBToaster line of papers: nested aggregates, correlated by inequality, over bids and
asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import Project
from tests.scenarios.test_cases import WAYS

VIEWS = {
    "vwap": "SELECT sum(b1.price * b1.volume) AS vwap FROM bids b1 WHERE 0.25 * (SELECT sum(b3.volume) FROM bids b3) > "
    "(SELECT coalesce(sum(b2.volume), 0) FROM bids b2 WHERE b2.price > b1.price)",
    "axfinder": "SELECT b.broker_id, sum(a.volume - b.volume) AS axfinder FROM bids b, asks a WHERE b.broker_id = "
    "a.broker_id "
    "AND (a.price - b.price > 1000 OR b.price - a.price > 1000) GROUP BY b.broker_id",
    "brokerspread": "SELECT a.broker_id, sum(a.volume * a.price - b.volume * b.price) AS spread FROM bids b, asks a "
    "WHERE a.broker_id = b.broker_id GROUP BY a.broker_id",
    "pricespread": "SELECT sum(a.price - b.price) AS psp FROM bids b, asks a WHERE b.volume > 0.0001 * (SELECT "
    "sum(b1.volume) FROM bids b1) "
    "AND a.volume > 0.0001 * (SELECT sum(a1.volume) FROM asks a1)",
    "missedtrades": "SELECT b.broker_id, sum(a.price * a.volume - b.price * b.volume) AS missed FROM bids b, asks a "
    "WHERE 0.25 * (SELECT sum(a1.volume) FROM asks a1) > (SELECT coalesce(sum(a2.volume), 0) FROM asks a2 WHERE "
    "a2.price > a.price) "
    "AND 0.25 * (SELECT sum(b1.volume) FROM bids b1) > (SELECT coalesce(sum(b2.volume), 0) FROM bids b2 WHERE "
    "b2.price > b.price) "
    "GROUP BY b.broker_id",
}
ROWS = (
    "INSERT INTO {0} SELECT i, i % 10, (i * 7919) % 300 * 10, 100 + (i * 104729) % 20000 FROM generate_series({1}, "
    "{2}) i"
)


@pytest.mark.parametrize(("engine", "strategy"), WAYS)
def test_every_query_is_maintained(engine: str, strategy: str, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS, engine, strategy=strategy)
    p.source(
        *(
            f"CREATE TABLE {t} (id int PRIMARY KEY, broker_id int, volume numeric(12,2), price numeric(12,2))"
            for t in ("bids", "asks")
        ),
        ROWS.format("bids", 1, 120),
        ROWS.format("asks", 1, 100),
    )
    p.deploy()
    told = p.maintenance
    assert set(told.values()) <= {"incremental", "keyed"}, told
    p.assert_equal()
    p.source(ROWS.format("bids", 200, 230), ROWS.format("asks", 200, 240))
    p.assert_equal()
    p.source(
        "UPDATE bids SET price = price + 500, broker_id = (broker_id + 1) % 10 WHERE id % 4 = 0",
        "BEGIN; UPDATE asks SET volume = volume * 3 WHERE id % 5 = 0; DELETE FROM bids WHERE id % 7 = 0; COMMIT",
    )
    p.assert_equal()
    p.source("DELETE FROM asks", "DELETE FROM bids WHERE id > 10")
    p.assert_equal()
