"""The list of slow tests names tests that there are."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
LISTED = [x for x in (ROOT / "tests" / "slow.txt").read_text().splitlines() if not x.startswith("#")]


def test_each_is_there() -> None:
    for line in LISTED:
        file, name = line.split("::")
        assert f"def {name.split('[')[0]}(" in (ROOT / file).read_text(encoding="utf-8"), line


def test_cases_that_are_slow_are_listed_for_all_of_their_tests() -> None:
    """A case is played by the first of its tests: one that were left out would play it."""
    cases: dict[str, int] = {}
    for line in LISTED:
        if line.startswith("tests/scenarios/test_cases.py"):
            cases[line.split("[")[1]] = cases.get(line.split("[")[1], 0) + 1
    assert set(cases.values()) == {3}
