"""What a deploy is to do: one value that goes through all of its parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from compiler.catalog import Catalog
from pipelines.config import Config
from pipelines.deploying.initial_copy import Progress
from pipelines.project import Compiled

Say = Callable[[str], None]


@dataclass(frozen=True)
class Order:
    """The project, the source's catalog, and the views that are to be there. `progress` and `say` tell people how far
    it is; with `keep_going` a view that is refused meanwhile is left out, else nothing is deployed."""

    config: Config
    catalog: Catalog
    views: list[Compiled]
    progress: Progress = lambda *_: None
    say: Say = lambda _: None
    keep_going: bool = False

    def of(self, views: list[Compiled]) -> Order:
        return replace(self, views=views)

    def into(self, config: Config) -> Order:
        """The same, into the warehouse of another project."""
        return replace(self, config=config)
