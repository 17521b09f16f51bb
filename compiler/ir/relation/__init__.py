"""Relations: Z-sets (rows with signed integer weights) built from tables by the kernel's operators.

Every node knows its columns, refuses to be built from columns its inputs do not have, and is compared by structure.
Meaning is given by `compiler.ir.evaluate`.
"""

from __future__ import annotations

from compiler.ir.relation.base import Named, Relation, require, require_unique
from compiler.ir.relation.groups import Agg, Aggregate, Frame, Order, TopK, Window, WindowCall
from compiler.ir.relation.joins import Apply, Binary, Join, LeftJoin, Semi
from compiler.ir.relation.rows import Filter, Keys, Net, Project, Union, Unnest, Weigh
from compiler.ir.relation.sources import Fixpoint, Recur, Scan, State, Temp, Values
from compiler.ir.relation.trees import empty, is_empty, transform, walk

__all__ = [
    "Agg",
    "Aggregate",
    "Apply",
    "Binary",
    "Filter",
    "Fixpoint",
    "Frame",
    "Join",
    "Keys",
    "LeftJoin",
    "Named",
    "Net",
    "Order",
    "Project",
    "Recur",
    "Relation",
    "Scan",
    "Semi",
    "State",
    "Temp",
    "TopK",
    "Union",
    "Unnest",
    "Values",
    "Weigh",
    "Window",
    "WindowCall",
    "empty",
    "is_empty",
    "require",
    "require_unique",
    "transform",
    "walk",
]
