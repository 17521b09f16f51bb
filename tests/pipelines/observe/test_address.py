"""host:port of [metrics] listen."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.config import ConfigError, load_config
from pipelines.observe.address import parse_address

SOURCE = '[source]\ndsn = "host=h dbname=d"\n'


@pytest.mark.parametrize(
    ("text", "address"),
    [("127.0.0.1:9187", ("127.0.0.1", 9187)), ("localhost:0", ("localhost", 0)), ("[::1]:65535", ("::1", 65535))],
)
def test_addresses(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "9187",
        ":9187",
        "localhost",
        "localhost:",
        "localhost:http",
        "localhost:-1",
        "localhost:65536",
        "::1:9187",
        " localhost:9187",
        "localhost:9187 ",
        "localhost:٣",
    ],
)
def test_what_is_none(text: str) -> None:
    with pytest.raises(ValueError):
        parse_address(text)


def test_it_is_off_by_default(tmp_path: Path) -> None:
    (tmp_path / "tidemark.toml").write_text(SOURCE)
    assert load_config(tmp_path).metrics.listen == ""


def test_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "tidemark.toml").write_text(SOURCE + '[metrics]\nlisten = "127.0.0.1:9187"\nready_seconds = 5\n')
    m = load_config(tmp_path).metrics
    assert (m.listen, m.ready_seconds, m.healthy_seconds) == ("127.0.0.1:9187", 5.0, 300.0)


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ('listen = "9187"', "bad_value", ['"metrics.listen"', "host:port"]),
        ("listen = 9187", "bad_value", ['"metrics.listen"', "string"]),
        ("ready_seconds = 0", "bad_value", ['"metrics.ready_seconds"', "greater than 0"]),
        ('lisen = "127.0.0.1:9187"', "unknown_key", ['"metrics.lisen"', '"listen"']),
    ],
)
def test_a_wrong_one_says_what_and_where(tmp_path: Path, line: str, code: str, words: list[str]) -> None:
    (tmp_path / "tidemark.toml").write_text(SOURCE + f"[metrics]\n{line}\n")
    with pytest.raises(ConfigError) as e:
        load_config(tmp_path)
    assert e.value.code == code and all(w in str(e.value) for w in words)
