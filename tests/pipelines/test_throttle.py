"""Copies that are read no faster than tidemark.toml says: by all readers together, in first and later deploys."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.config import ConfigError, load_config
from pipelines.deploying.throttle import Throttle
from tests.project import Project


class Clock:
    """One that sleeping alone moves."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def test_what_is_read_takes_its_time() -> None:
    clock = Clock()
    throttle = Throttle(1_000, clock, clock.sleep)
    for size in (500, 2_000, 1):
        throttle.read(size)
    assert clock.slept == pytest.approx([0.5, 2.0, 0.001])
    clock.now += 60  # what was not read meanwhile is not made up for
    throttle.read(1_000)
    assert clock.slept[-1] == pytest.approx(1.0)


def test_readers_share_it() -> None:
    clock, slept = Clock(), list[float]()
    throttle = Throttle(1_000, clock, slept.append)  # several that sleep at once
    for _ in range(3):
        throttle.read(1_000)
    assert slept == pytest.approx([1.0, 2.0, 3.0])


def test_without_a_rate_nobody_waits() -> None:
    Throttle(0, sleep=lambda s: pytest.fail("it waits")).read(1 << 40)


def test_each_copy_is_throttled(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    p = Project.create(tmp_path, database, {"a": "SELECT id, v FROM a"})
    toml = tmp_path / "tidemark.toml"
    toml.write_text(toml.read_text().replace("[source]\n", '[source]\ncopy_rate = "3MB"\n'))
    read: list[tuple[int, int]] = []
    monkeypatch.setattr(Throttle, "read", lambda self, size: read.append((self.rate, size)))
    for t in "ab":
        p.source(
            f"CREATE TABLE {t} (id int PRIMARY KEY, v text)",
            f"INSERT INTO {t} SELECT i, 'value' || i FROM generate_series(1, 1000) i",
        )
    p.deploy()
    assert {rate for rate, _ in read} == {3 << 20} and sum(size for _, size in read) > 10_000
    first = len(read)
    p.write({"b": "SELECT id, v FROM b"})
    p.deploy()
    assert len(read) > first
    p.assert_equal()


@pytest.mark.parametrize("rate", ["0", "fast"])
def test_what_is_no_rate_is_refused(rate: str, tmp_path: Path) -> None:
    (tmp_path / "tidemark.toml").write_text(f'[source]\ndsn = "dbname=x"\ncopy_rate = "{rate}"\n')
    with pytest.raises(ConfigError, match="copy_rate"):
        load_config(tmp_path)
