"""What is Dist beside a local file: mirrors and states, as one for the engine that has the file."""

from __future__ import annotations

from connectors.spark.local.dist import Dist
from connectors.spark.local.states import DistStates


class Away:
    """`Dist` and `DistStates`, as `connectors.duckdb.elsewhere.Elsewhere`."""

    def __init__(self, dist: Dist, kept: DistStates) -> None:
        self.dist, self.kept = dist, kept
        self.sizes, self.look_up, self.land, self.fetch = dist.sizes, dist.look_up, dist.land, dist.fetch
        self.fill, self.place, self.drop_state, self.take, self.undone = (
            kept.fill,
            kept.place,
            kept.drop,
            kept.take,
            kept.undone,
        )

    @property
    def mirrors(self) -> frozenset[str]:
        return self.dist.mirrors

    @property
    def states(self) -> frozenset[str]:
        return frozenset(self.kept.names)
