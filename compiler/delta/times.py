"""A relation at a time: every table and state it reads, before or after the batch."""

from __future__ import annotations

from dataclasses import replace

from compiler.ir.relation import Relation, Scan, State, transform


def at(r: Relation, time: str) -> Relation:
    """`r` with every scan and state read at `time` (before, after)."""
    return transform(r, lambda n: replace(n, at=time) if isinstance(n, Scan | State) and n.at != time else n)


def before(r: Relation) -> Relation:
    return at(r, "before")


def after(r: Relation) -> Relation:
    return at(r, "after")
