"""run: catch up and stop, or keep the views fresh until told to stop."""

from __future__ import annotations

import signal
import threading

from connectors.postgres.stream import Limits
from pipelines import deployment as store
from pipelines.capture import Capture, current_lsn
from pipelines.config import Config
from pipelines.unaltered import Watch, check_source
from pipelines.warehouse import Warehouse


def limits(config: Config) -> Limits:
    return Limits(config.batch.rows, config.batch.bytes, config.batch.seconds)


def run(config: Config, once: bool) -> None:
    """Apply the stream; with `once`, up to the source's LSN at the start. SIGTERM stops after the batch at hand, a second signal in it."""
    with store.locked(config.warehouse_path):
        warehouse = Warehouse(config, store.require(config.warehouse_path))
        try:
            if not warehouse.used_engines():
                return
            warehouse.check_states()
            warehouse.finish_deploy()
            check_source(config.source.dsn, warehouse.deployment)
            if once:
                catch_up(config, warehouse)
            else:
                _forever(config, warehouse)
        finally:
            warehouse.close()


def catch_up(config: Config, warehouse: Warehouse) -> None:
    """Apply everything that the source has committed before the call."""
    target = current_lsn(config.source.dsn)
    capture = Capture(warehouse, limits(config))
    try:
        capture.catch_up(target)
    finally:
        capture.close()


def _forever(config: Config, warehouse: Warehouse) -> None:
    from pipelines.server import Server

    stop = threading.Event()

    def ask(*_: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt  # what the batch has written is undone, or finished, when the warehouse is opened next
        stop.set()

    for s in (signal.SIGTERM, signal.SIGINT):
        signal.signal(s, ask)
    capture = Capture(warehouse, limits(config))
    server, watch = Server(config, warehouse, capture), Watch(config.source.dsn, warehouse.deployment)
    server.start()
    try:
        while not stop.is_set():
            capture.step(0.2)
            server.between_batches()
            watch.look()
    except KeyboardInterrupt:
        capture.abandon()
        raise
    finally:
        server.stop()
        capture.close()
