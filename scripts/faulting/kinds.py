"""The kinds of faults, by the name that --only takes, in the order they are done."""

from __future__ import annotations

from collections.abc import Callable

from faulting.kills import kills
from faulting.points import points
from faulting.scene import Bench

BY_NAME: dict[str, Callable[[Bench], None]] = {"failpoints": points, "kills": kills}
QUICK = ("failpoints", "kills")
