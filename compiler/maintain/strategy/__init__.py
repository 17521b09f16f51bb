"""The strategies, by the name that `WITH (strategy = …)` gives them. Each is one file, with a function `offer`.

It says what would be kept for a normalized query, and what reads the view from that. How the change of a state is
derived is no strategy's business (`maintain/differentiate`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from compiler.maintain.offer import Offer, Wanted
from compiler.maintain.strategy import first_order, higher_order, paces, partial, recompute, split

Strategy = Callable[[Wanted], Offer]
PLAIN: Mapping[str, Strategy] = {  # which need nothing of a view but its query
    first_order.NAME: first_order.offer,
    higher_order.NAME: higher_order.offer,
    split.NAME: split.offer,
    recompute.NAME: recompute.offer,
}
STRATEGIES: Mapping[str, Strategy] = {**PLAIN, partial.NAME: partial.offer, paces.NAME: paces.offer}
