"""Debezium's events from Kafka and from files: a real broker and Kafka Connect with its connector, which is killed in
the middle of transactions; what is removed before it was read is told."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("confluent_kafka")
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from connectors.debezium.settings import prefix
from tests.connectors import kafka
from tests.pipelines.running import running
from tests.ports import free_port
from tests.project import Project

pytestmark = pytest.mark.skipif(not kafka.installed(), reason="scripts/fetch-kafka has fetched none")
VIEWS = {
    "sums": "SELECT o.client, c.name, sum(o.amount) AS s, count(*) AS n FROM orders o JOIN clients c ON c.id = "
    "o.client GROUP BY o.client, c.name",
    "notes": "SELECT id, note, made FROM orders",
}
TABLES = [
    "CREATE TABLE clients (id int PRIMARY KEY, name text)",
    "CREATE TABLE orders (id int PRIMARY KEY, client int, amount numeric(12, 2), note text, made timestamptz)",
    "INSERT INTO clients SELECT i, 'client ' || i FROM generate_series(1, 20) i",
    "INSERT INTO orders SELECT i, 1 + i % 20, i * 1.25, repeat('long ', 2000), now() FROM generate_series(1, 300) i",
]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[kafka.Broker]:
    b = kafka.Broker(tmp_path_factory.mktemp("kafka") / "broker")
    yield b
    b.stop()


@dataclass
class Site:
    """A deployed project, whose events a worker writes."""

    project: Project
    connect: kafka.Connect
    connector: dict[str, Any]

    @property
    def prefix(self) -> str:
        return str(self.connector["config"]["topic.prefix"])


def deployed(home: Path, dsn: str, events: str, broker: kafka.Broker) -> Site:
    p = Project.create(home, dsn, VIEWS, capture="debezium")
    toml = home / "tidemark.toml"
    toml.write_text(toml.read_text().replace('"debezium"\n', f'"debezium"\nevents = "{events}"\n'))
    p.source(*TABLES)
    p.deploy()
    told = p.command("check", "--connector")
    assert told.returncode == 0, told.stderr
    connector = json.loads(told.stdout)
    connector["config"]["database.password"] = p.config.source.dsn.partition("password=")[2].split(" ")[0] or "-"
    assert connector["config"]["topic.prefix"] == prefix(p.deployed.slot)
    connect = kafka.Connect(home / "connect", broker.brokers)
    connect.put(connector)
    return Site(p, connect, connector)


@pytest.fixture(params=["kafka", "file"])
def site(request: pytest.FixtureRequest, database: str, tmp_path: Path, broker: kafka.Broker) -> Iterator[Site]:
    folder = tmp_path / "events"
    folder.mkdir()
    events = f"kafka://{broker.brokers}" if request.param == "kafka" else folder.as_uri()
    s = deployed(tmp_path, database, events, broker)
    if request.param == "file":
        s.connect.put(kafka.file_sink(s.prefix, folder))
    else:  # in several partitions, which are in no order
        topics = [NewTopic(f"{s.prefix}.{t}", n) for t, n in (("public.clients", 2), ("public.orders", 3))]
        admin = AdminClient({"bootstrap.servers": broker.brokers})  # held: its answers go with it
        for made in admin.create_topics(topics).values():
            made.result()
    yield s
    s.connect.stop(signal.SIGKILL)


def changes(p: Project, n: int) -> None:
    """Transactions over both tables: keys that change, long values that are not sent, savepoints, a truncate."""
    p.source(
        f"BEGIN; INSERT INTO clients VALUES ({100 + n}, 'new'); INSERT INTO orders SELECT i, {100 + n}, 1.10, 'short', "
        f"now() FROM generate_series({1000 * n}, {1000 * n} + 30) i; COMMIT",
        f"UPDATE orders SET amount = amount + 1 WHERE id % 7 = {n % 7}",
        f"UPDATE orders SET id = id + 100000 WHERE id BETWEEN {1000 * n} AND {1000 * n} + 5",
        f"BEGIN; DELETE FROM orders WHERE id = {1000 * n} + 9; SAVEPOINT s; DELETE FROM orders; ROLLBACK TO s; UPDATE "
        "clients SET name = name || '!' WHERE id % 3 = 0; COMMIT",
    )


def test_what_is_committed_arrives_though_the_connector_is_killed(site: Site) -> None:
    p = site.project
    site.connect.start()
    changes(p, 1)
    p.catch_up()
    p.assert_equal()
    with running(p):
        p.source("INSERT INTO orders SELECT i, 1 + i % 20, 2, 'many', now() FROM generate_series(200000, 260000) i")
        time.sleep(1.0)
        site.connect.stop(signal.SIGKILL)  # in the middle of it
        changes(p, 2)
        site.connect.start()
        changes(p, 3)
    p.catch_up()
    p.assert_equal()
    (p.home / "warehouse" / "events.json").unlink()  # a start, and no more
    changes(p, 4)
    p.source("TRUNCATE orders", "INSERT INTO orders VALUES (1, 1, 5, 'after', now())")
    p.catch_up()
    p.assert_equal()
    p.source("CREATE TABLE others (id int PRIMARY KEY, client int)", "INSERT INTO others VALUES (1, 2), (2, 2)")
    p.write({"more": "SELECT c.name, count(*) AS n FROM others o JOIN clients c ON c.id = o.client GROUP BY c.name"})
    p.deploy()
    p.source("BEGIN; INSERT INTO others VALUES (3, 4); UPDATE clients SET name = 'last' WHERE id = 2; COMMIT")
    p.catch_up()
    p.assert_equal()
    assert len(p.verify()) == 6


def test_a_connector_that_does_not_run_is_told(database: str, tmp_path: Path, broker: kafka.Broker) -> None:
    s = deployed(tmp_path, database, f"kafka://{broker.brokers}", broker)
    s.project.source("DELETE FROM orders")
    done = s.project.command("run", "--once")
    assert done.returncode == 3 and "no connector of Debezium reads the slot" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


def test_events_that_were_removed_are_not_passed_over(database: str, tmp_path: Path, broker: kafka.Broker) -> None:
    s = deployed(tmp_path, database, f"kafka://{broker.brokers}", broker)
    s.connect.start()
    try:
        changes(s.project, 1)
        s.project.catch_up()
        changes(s.project, 2)
        admin, topic = AdminClient({"bootstrap.servers": broker.brokers}), f"{s.prefix}.public.orders"
        time.sleep(3)  # the connector writes what was committed
        for f in admin.delete_records([TopicPartition(topic, 0, -1)]).values():
            f.result()
        done = s.project.command("run", "--once")
        assert done.returncode == 1 and f'events of the topic "{topic}" are gone' in done.stderr, done.stderr
    finally:
        s.connect.stop(signal.SIGKILL)


def test_kafka_that_is_away_is_told(database: str, tmp_path: Path, broker: kafka.Broker) -> None:
    s = deployed(tmp_path, database, f"kafka://127.0.0.1:{free_port()}", broker)
    done = s.project.command("run", "--once")
    assert done.returncode == 3 and "Kafka does not answer" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
