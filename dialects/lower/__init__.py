"""IR to sqlglot trees: adjacent π, σ, ⋈ become one SELECT, everything else a named step (CTE).

Weights are an expression of each SELECT, and no column where every row has weight 1. Where rows must not be negative
(the padded side of an outer join, windows, ordered aggregates) the relation is read in its positive form: mirrors have
one (`after_rows`, `before_rows`), anything else is consolidated.
"""

from __future__ import annotations

from compiler.ir.relation import (
    Aggregate,
    Filter,
    Fixpoint,
    Join,
    Keys,
    LeftJoin,
    Net,
    Project,
    Recur,
    Relation,
    Scan,
    Semi,
    State,
    Temp,
    TopK,
    Union,
    Unnest,
    Values,
    Weigh,
    Window,
)
from dialects.dialect import Dialect
from dialects.lower import aggregates, ordered, relations, sets
from dialects.lower.frames import WEIGHT, Frame, Lowering, Rule

__all__ = ["WEIGHT", "Frame", "Lowering", "lowering"]

RULES: dict[type[Relation], Rule] = {
    Scan: relations.lower_scan,
    State: relations.lower_state,
    Temp: relations.lower_temp,
    Values: relations.lower_values,
    Project: relations.lower_project,
    Filter: relations.lower_filter,
    Weigh: relations.lower_weigh,
    Join: relations.lower_join,
    LeftJoin: relations.lower_leftjoin,
    Semi: relations.lower_semi,
    Union: relations.lower_union,
    Keys: relations.lower_keys,
    Net: relations.lower_net,
    Aggregate: aggregates.lower_aggregate,
    Window: ordered.lower_window,
    TopK: ordered.lower_topk,
    Unnest: sets.lower_unnest,
    Fixpoint: sets.lower_fixpoint,
    Recur: relations.lower_recur,
}


def lowering(dialect: Dialect, rows: bool = False) -> Lowering:
    """What lowers one statement. With `rows`, mirrors are read in positive form throughout: the way to fill a state."""
    return Lowering(dialect, RULES, rows)
