"""States of views that are about to be deployed, filled while batches go on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from compiler.errors import TidemarkError
from connectors.engine import Begun
from pipelines.config import load_config
from pipelines.deploying import ahead
from pipelines.deploying.deploy import compiled
from pipelines.warehouse import Warehouse

log = logging.getLogger("tidemark")
Ask = Callable[[Callable[[], list[Begun]]], list[Begun]]


class Ahead:
    """On the thread of whoever asks for a deploy; `ask` runs something on the loop's, between batches."""

    def __init__(self, home: Path, ask: Ask) -> None:
        self.home, self.ask, self.begun = home, ask, list[Begun]()

    def fill(self, warehouse: Warehouse) -> None:
        """What can be filled of the project's views; where that fails, the deploy does it, or says why not."""
        try:
            views = compiled(load_config(self.home))[1]
            self.begun = self.ask(lambda: ahead.begin(warehouse, views))
        except TidemarkError as e:
            log.warning("batches wait while states are filled: %s", e.message)
            return
        for b in self.begun:
            try:
                b.run()
            except Exception as e:
                log.warning("batches wait while states are filled: %s", str(e).split("\n")[0])
        self.begun = []

    def stop(self) -> None:
        for b in self.begun:
            b.stop()
