"""Fetches of mirrors that are elsewhere are made together, as soon as their keys are there."""

from __future__ import annotations

from compiler.maintain.program import Does, Fetch, Statement
from connectors.duckdb.elsewhere import rounds


def fetch(target: str, mirror: str, *reads: str) -> Statement:
    return Statement(
        Does.FETCH, target, "", reads, target, "", fetch=Fetch(mirror, ("id",), ("id",), "SELECT 1 AS _k0")
    )


def step(target: str, *reads: str) -> Statement:
    return Statement(Does.STEP, target, "", reads, target, "")


def shown(statements: list[Statement], *mirrors: str) -> list[str]:
    return [" ".join(s.target for s in some) for some in rounds(statements, frozenset(mirrors))]


def test_what_depends_on_the_batch_alone_is_one_round() -> None:
    program = [fetch("a", "large", "batch_t"), step("x", "a"), fetch("b", "other", "batch_t"), step("y", "b")]
    assert shown(program, "large", "other") == ["a b", "x", "y"]


def test_what_depends_on_a_round_is_the_next() -> None:
    program = [
        fetch("a", "large", "batch_t"),
        step("x", "a"),
        fetch("b", "large", "x"),
        fetch("c", "large", "batch_t"),
        step("y", "c"),
        fetch("d", "large", "y"),
        step("z", "batch_t"),
    ]
    assert shown(program, "large") == ["z", "a c", "x", "y", "b d"]


def test_changes_come_last() -> None:
    change = Statement(Does.MERGE, "s", "", ("x",), "state.s", "")
    assert shown([step("x"), fetch("a", "large", "x"), step("y", "a"), change], "large") == ["x", "a", "y", "s"]


def test_other_mirrors_are_fetched_as_before() -> None:
    program = [fetch("a", "small", "batch_t"), fetch("b", "large", "a"), step("x", "b")]
    assert shown(program, "large") == shown(program) == ["a", "b", "x"]
