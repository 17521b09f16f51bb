"""Enums that were given more labels.

What is kept of their values is text, and stays what it is. A view goes on whose states do not hang on the order of the
labels; one whose states do (`max(mood)`, a window by mood) is something else with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from compiler.catalog import Column, Table
from compiler.ir.types import Type
from compiler.maintain.plan import ViewPlan
from connectors.changed import TableChanged

Labels = dict[int, tuple[str, ...]]


def more_labels(found: Iterable[Exception]) -> Labels:
    """By the oid of a column's type, all that an enum has, where it has more than it had."""
    return {
        c.oid: e.labels
        for e in found
        if isinstance(e, TableChanged) and e.labels and e.table is not None
        for c in e.table.columns
        if c.name in e.columns
    }


def relabelled(tables: Iterable[Table], labels: Labels) -> list[Table]:
    """The tables, whose columns have enums with these labels."""
    return [replace(t, columns=tuple(_column(c, labels) for c in t.columns)) for t in tables]


def _column(c: Column, labels: Labels) -> Column:
    return replace(c, type=_type(c.type, labels[c.oid])) if c.oid in labels else c


def _type(t: Type, labels: tuple[str, ...]) -> Type:
    if t.name == "enum":
        return replace(t, labels=labels)
    return replace(t, element=_type(t.element, labels)) if t.element is not None else t


def others(was: Mapping[str, ViewPlan], now: Mapping[str, ViewPlan | None]) -> tuple[list[str], list[str]]:
    """The views with other states than they had, and those that read their states otherwise."""
    kept, read = [], []
    for view, before in was.items():
        after = now.get(view)
        if after is None or [s.name for s in after.states] != [s.name for s in before.states]:
            kept.append(view)
        elif repr(after.top) != repr(before.top):
            read.append(view)
    return kept, read
