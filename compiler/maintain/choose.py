"""The choice of a strategy for a view, and why it is maintained the way it is, in words."""

from __future__ import annotations

from enum import Enum

from compiler.delta.restrict import equalities
from compiler.functions.aggregates import Algebra
from compiler.ir.relation import Aggregate, Fixpoint, Join, LeftJoin, Relation, Scan, Semi, TopK, Window, walk
from compiler.ir.scalar import columns
from compiler.maintain.differentiate import rules_of
from compiler.maintain.facts import Facts
from compiler.maintain.kept import Recomputed
from compiler.maintain.offer import Wanted
from compiler.maintain.plan import ViewPlan
from compiler.maintain.strategy import STRATEGIES, first_order, paces, recompute
from compiler.normalize.subqueries.unique import unique

AUTO = "auto"


class Maintenance(Enum):
    INCREMENTAL = "incremental"  # delta rules only
    KEYED = "keyed"  # affected keys are recomputed
    RECOMPUTE = "recompute"


def choose(w: Wanted, strategy: str = AUTO) -> ViewPlan:
    """The plan of a view by the strategy that was asked for, or by the one that suits it."""
    name = strategy
    if strategy == AUTO:
        name = first_order.NAME if w.lag is None else paces.NAME
    got = STRATEGIES[name](w)
    return ViewPlan(
        w.view,
        got.states,
        got.top,
        list(w.outputs),
        Facts(w.query).tables,
        got.notes,
        strategy=name,
        asked=got.asked,
        by_key=got.by_key,
        whole=w.query if got.asked is not None else None,
        lag=w.lag,
    )


def maintenance_of(plan: ViewPlan) -> Maintenance:
    used = rules_of(plan)
    if "whole" in used:
        return Maintenance.RECOMPUTE
    return Maintenance.KEYED if "keyed" in used else Maintenance.INCREMENTAL


def reason_of(plan: ViewPlan, maintenance: Maintenance) -> dict[str, str] | None:
    """{code, message, hint} for a view that is keyed or recomputed; None where delta rules do."""
    if maintenance is Maintenance.INCREMENTAL:
        return None
    if plan.strategy == recompute.NAME:
        return _said(
            "asked_for",
            "It says strategy = 'recompute': the query is evaluated again whenever a table of it changes.",
            "",
        )
    nodes = [n for s in plan.states for n in walk(s.definition)]
    for n in nodes:
        if maintenance is Maintenance.RECOMPUTE and (got := _whole(n)):
            return got
    if maintenance is Maintenance.RECOMPUTE:
        return _said("whole", "A part of the view has no key to recompute by.", "")
    if any(isinstance(n, Fixpoint) for n in nodes):
        return _said(
            "recursion",
            "Rows that arrive extend the recursion round by round (semi-naive); when rows leave, the recursive "
            "part alone is computed again and compared: one deleted row may take any number of derived rows with it.",
            "",
        )
    for s in plan.states:
        if isinstance(s, Recomputed):
            return _said(
                "ordered_aggregate",
                "Groups that change are computed again: an aggregate depends on the order "
                "of its rows, or adds floating point numbers, whose addition cannot be undone.",
                "",
            )
    for n in nodes:
        if isinstance(n, Window | TopK):
            return (
                _said("window", "Partitions that change are computed again.", "")
                if n.partition
                else _said(
                    "ordered_rows",
                    "A window or LIMIT over all rows, below another operator, is computed again from the rows "
                    "that are kept for it.",
                    "Add PARTITION BY, or move it to the top of the view, where it is evaluated when read.",
                )
            )
    for n in nodes:
        if isinstance(n, Aggregate) and Facts(n).algebra is Algebra.SEMILATTICE:
            return _said(
                "extremum",
                "MIN and MAX take inserts as they come; a group that loses its extremum is computed again.",
                "",
            )
    for n in nodes:
        if isinstance(n, LeftJoin | Semi):
            return _said("outer_or_semi_join", "Rows that meet a changed row of the other side are computed again.", "")
    return _said("keyed", "Keys that change are computed again.", "")


def shared_values(rel: Relation) -> list[str]:
    """Notes on what all rows of a normalized view read at once: the one value of an uncorrelated subquery, or of a
    join without keys."""
    out = []
    for n in walk(rel):
        if isinstance(n, Join | LeftJoin | Semi) and not equalities(n.on, n.left, n.right):
            for one, others in ((n.right, n.left), (n.left, n.right)):
                of_one_row = one is n.right and not columns(n.on) if isinstance(n, Semi) else unique(one, set())
                if of_one_row and not unique(others, set()) and _tables(one) and _tables(others):
                    out.append(
                        f"rows over {', '.join(_tables(others))} all read one value over {', '.join(_tables(one))} (a "
                        f"subquery that "
                        "is not correlated, or a join without keys): when it changes, all of them may change"
                    )
    return list(dict.fromkeys(out))


def _tables(r: Relation) -> list[str]:
    return sorted({n.table.removeprefix("public.") for n in walk(r) if isinstance(n, Scan)})


def _whole(n: Relation) -> dict[str, str] | None:
    if isinstance(n, Fixpoint):
        return _said(
            "recursion",
            "The recursive part is computed again and compared: one deleted row may take any "
            "number of derived rows with it.",
            "Its inputs and what reads it are maintained by deltas.",
        )
    if Facts(n).linearity != "whole":
        return None
    if isinstance(n, Window):
        return _said(
            "window_without_partition",
            "A window without PARTITION BY ranges over all rows, below another operator that needs its result.",
            "Add PARTITION BY, or move the window to the top of the view.",
        )
    if isinstance(n, TopK):
        return _said(
            "limit_inside",
            "ORDER BY … LIMIT inside the query ranges over all rows.",
            "Move the LIMIT to the top of the view, where it is evaluated when read.",
        )
    return None


def _said(code: str, message: str, hint: str) -> dict[str, str]:
    return {"code": code, "message": message, "hint": hint}
