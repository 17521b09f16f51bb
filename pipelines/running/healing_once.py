"""run --once: what was set aside is filled again before it catches up, where its cause is gone.

A command that ends remembers nothing: a note beside the data says when the last attempt was, and how long it took, so
that one every minute does not copy tables every minute.
"""

from __future__ import annotations

import json
import time

from pipelines.config import Config
from pipelines.deploying.heal import heal
from pipelines.deployment import Deployment
from pipelines.running.healing import MOST, SHARE, telling
from pipelines.warehouse import HEALING_FILE


def due(config: Config, d: Deployment, now: float) -> bool:
    """Whether a view is set aside, and the last attempt was long enough before `now`, in seconds since 1970."""
    if not any(v.error for v in d.views):
        return False
    try:
        note = json.loads((config.warehouse_path / HEALING_FILE).read_text())
        at, seconds = float(note["at"]), float(note["seconds"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return True
    return not at <= now < at + min(SHARE * seconds, MOST)


def heal_once(config: Config) -> None:
    """Fill again the views that could be, with nobody at work on the warehouse; what still cannot be stays aside."""
    begun = time.time()
    try:
        with telling():
            heal(config, lambda *_: None, lambda _: None)
    finally:
        temp = config.warehouse_path / f".{HEALING_FILE}.new"
        temp.write_text(json.dumps({"at": begun, "seconds": time.time() - begun}))
        temp.replace(config.warehouse_path / HEALING_FILE)
