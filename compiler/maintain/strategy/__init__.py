"""The strategies, by the name that `WITH (strategy = …)` gives them. Each is one file, with a function `offer`.

`offer(view, q)` says what would be kept for a normalized query, and what reads the view from that. How the change of
a state is derived is no strategy's business (`maintain/differentiate`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from compiler.ir.relation import Relation
from compiler.maintain.readable import Offer
from compiler.maintain.strategy import first_order, higher_order, recompute, split

Strategy = Callable[[str, Relation], Offer]
STRATEGIES: Mapping[str, Strategy] = {
    first_order.NAME: first_order.offer,
    higher_order.NAME: higher_order.offer,
    split.NAME: split.offer,
    recompute.NAME: recompute.offer,
}
