"""Subqueries in expressions and LATERAL become joins, semi joins and anti joins.

A correlated subquery is evaluated for all bindings of its outer columns at once. Where it is tied to them by
equality, the inner side of the equality stands for the outer column; where it is not, the distinct bindings (the
domain) are joined in. Either way each result row says which binding it belongs to, and the outer query joins on that.
"""

from __future__ import annotations

from compiler.normalize.subqueries.nodes import unnest

__all__ = ["unnest"]
