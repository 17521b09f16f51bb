"""IR to sqlglot trees: adjacent π, σ, ⋈ become one SELECT, everything else a named step (CTE).

Weights are an expression of each SELECT, and no column where every row has weight 1. Where rows must not be negative
(the padded side of an outer join, windows, ordered aggregates) the relation is read in its positive form: mirrors have
one (`after_rows`, `before_rows`), anything else is consolidated.
"""

from __future__ import annotations

from dialects.lower.frames import WEIGHT, Frame
from dialects.lower.sets import Sets

__all__ = ["WEIGHT", "Frame", "Lower"]


class Lower(Sets):
    """Lowers one statement."""
