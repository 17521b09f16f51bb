"""The log of `run`: names, counts and LSNs, an event a line, as text or JSON; no cell's value, no password.

Each event has a method here, so that nothing else can be said; reasons come from `reason`.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal, TextIO

import structlog

from connectors.postgres.connection import format_lsn
from pipelines.observe.reason import stored
from pipelines.observe.state import ViewInfo

Format = Literal["text", "json"]
OWN = "tidemark"  # the name of our own logger
_libraries: logging.Handler | None = None


class Log:
    """Events of a run. A stream that cannot be written to is no reason to stop: it is passed over."""

    def __init__(self, logger: Any) -> None:
        self._logger = logger

    def started(self, slot: str, views: list[ViewInfo], frontiers: Mapping[str, int], listen: str = "") -> None:
        engines = {e: format_lsn(f) for e, f in frontiers.items()}
        extra = {"listen": listen} if listen else {}
        aside = sum(bool(v.set_aside) for v in views)
        self._say("info", "started", slot=slot, views=len(views), set_aside=aside, **engines, **extra)

    def deployed(self, views: list[ViewInfo], frontiers: Mapping[str, int], seconds: float) -> None:
        engines = {e: format_lsn(f) for e, f in frontiers.items()}
        aside = sum(bool(v.set_aside) for v in views)
        self._say("info", "deployed", views=len(views), set_aside=aside, seconds=round(seconds, 1), **engines)

    def batches(
        self,
        batches: int,
        transactions: int,
        changes: int,
        rows: int,
        rows_per_second: float,
        seconds: float,
        frontier: int,
        stale_seconds: float,
    ) -> None:
        """What `Summary` gathered."""
        self._say(
            "info",
            "batches",
            batches=batches,
            transactions=transactions,
            changes=changes,
            rows=rows,
            rows_per_second=round(rows_per_second, 1),
            seconds=round(seconds, 3),
            frontier=format_lsn(frontier),
            stale_seconds=round(stale_seconds, 1),
        )

    def source_away(self, reason: str, attempt: int, retry_in: float | None) -> None:
        extra = {} if retry_in is None else {"retry_in": round(retry_in, 1)}
        self._say("warning", "source away", reason=reason, attempt=attempt, **extra)

    def source_back(self, seconds: float, reconnects: int) -> None:
        self._say("info", "source back", seconds=round(seconds, 1), reconnects=reconnects)

    def set_aside(self, view: str, reason: str) -> None:
        self._say("warning", "view set aside", view=view, reason=reason)

    def renamed(self, what: str, called: str) -> None:
        """Of a table or column as it was deployed, how the source calls it by now."""
        self._say("info", "renamed in the source", name=what, called=called)

    def failed(self, reason: str, engine: str) -> None:
        self._say("error", "failed", **({"engine": engine} if engine else {}), reason=reason)

    def stopped(self, reason: str, frontiers: Mapping[str, int], error: bool = False) -> None:
        engines = {e: format_lsn(f) for e, f in frontiers.items()}
        self._say("error" if error else "info", "stopped", reason=reason, **engines)

    def library(self, logger: str, level: str, template: str) -> None:
        """What a library said: its message before its arguments are put in, which may be values."""
        self._say(level, "library", logger=logger, **({"message": template} if template else {}))

    def said(self, level: str, message: str) -> None:
        """What a part of Tidemark said that knows of no log: names, and no detail."""
        self._say(level, "said", message=stored(message))

    def _say(self, level: str, event: str, **fields: Any) -> None:
        with suppress(OSError, ValueError):
            getattr(self._logger, level)(event, **fields)


def configure(format: Format, stream: TextIO | None = None) -> Log:
    """A log on `stream` (stderr), and of what libraries warn of; that goes to the log that was made last."""
    global _libraries
    show = structlog.processors.JSONRenderer(ensure_ascii=False) if format == "json" else _text
    stamp = structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts")
    log = Log(
        structlog.wrap_logger(
            structlog.PrintLogger(stream or sys.stderr),
            wrapper_class=structlog.BoundLogger,
            processors=[structlog.processors.add_log_level, stamp, _ordered, show],
        )
    )
    if _libraries is not None:
        logging.getLogger().removeHandler(_libraries)
    _libraries = _Libraries(log)
    logging.getLogger().addHandler(_libraries)
    return log


class _Libraries(logging.Handler):
    """Records of `logging` that nobody else would show but on stderr, as they come."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        level = "error" if record.levelno >= logging.ERROR else "warning"
        if record.name == OWN:
            self._log.said(level, record.getMessage())
            return
        template = record.msg if record.args and isinstance(record.msg, str) else ""
        self._log.library(record.name, level, template)


def _ordered(_: Any, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    return {"event": event.pop("event"), "level": event.pop("level"), "ts": event.pop("ts"), **event}


def _text(_: Any, __: str, event: structlog.typing.EventDict) -> str:
    head = f"{event.pop('ts')} {event.pop('level'):7} {event.pop('event')}"
    return " ".join([head, *(f"{k}={_shown(v)}" for k, v in event.items())])


def _shown(value: object) -> str:
    """As it is, quoted where it would not read as one word."""
    text = str(value)
    return text if text.isprintable() and text and not set(text) & set(" =\"'") else repr(text)
