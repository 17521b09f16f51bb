"""What a failure on Spark is: of a state's data or text, of something that passes, or of neither."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import duckdb

from connectors.engine import EngineFailure
from connectors.postgres.origin import RESYNC

# by SQLSTATE: cardinality, data, constraints, syntax and names, limits of a program, raised by the query itself
OF_DATA = ("21", "22", "23", "42", "54", "P0")
DATA = (
    "ArithmeticException",
    "DateTimeException",
    "NumberFormatException",
    "SparkRuntimeException",
    "AnalysisException",
    "ParseException",
    "DeltaInvariantViolationException",
)
# of Java: the same again if it is tried again
FIXED = (
    "IllegalArgumentException",
    "UnsupportedOperationException",
    "ClassCastException",
    "NullPointerException",
    "MatchError",
    "NoSuchMethodError",
    "NoClassDefFoundError",
    "ClassNotFoundException",
    "AccessControlException",
    "AccessDeniedException",
)
PASSING = (
    "ConcurrentModificationException",
    "ConcurrentWriteException",
    "MetadataChangedException",
    "ProtocolChangedException",
    "ConcurrentAppendException",
    "ConcurrentDeleteReadException",
    "ConcurrentDeleteDeleteException",
    "ConcurrentTransactionException",
)  # Delta's, of two commits at once
TOO_LARGE = "spark.driver.maxResultSize"  # in what is said of a result that is too much for the driver
UNREADABLE = "KD001"  # the SQLSTATE of a file that is not there, or not as it was written


class SparkFailure(EngineFailure):
    """`heals`: it may go by itself, so that what failed is worth another try."""

    def __init__(self, message: str, *, detail: str = "", hint: str = "", state: str = "", heals: bool = False) -> None:
        super().__init__(message, detail=detail, hint=hint, code="engine", state=state)
        self.heals = heals


def of_spark(e: BaseException) -> bool:
    """Whether Spark, its Java, the storage or what casts values raised it, rather than this program."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    return isinstance(e, Py4JError | PySparkException | OSError | duckdb.Error)


def failure(what: str, e: BaseException, state: str = "") -> SparkFailure:
    """`state` is blamed only for what its data or text can cause, not for a lost executor or a full disk."""
    if isinstance(e, SparkFailure):
        return e
    blamed, unread = of_data(e), any(state == UNREADABLE for _, state in causes(e))
    lines = [x for x in reason(e).split("\n") if x.strip()]
    return SparkFailure(
        f"{what} failed on Spark",
        detail=lines[0][:300] if lines else type(e).__name__,
        hint=RESYNC if unread else "scripts/inspect prints the statement.",
        state=state if blamed else "",
        heals=not blamed and passes(e),
    )


def reason(e: BaseException) -> str:
    """What an exception says, also when the Java that raised it is gone."""
    try:
        return str(e.java_exception.toString() if hasattr(e, "java_exception") else e)
    except Exception:
        return type(e).__name__


def of_data(e: BaseException) -> bool:
    """Whether a state's own data or text is to blame."""
    return not conflicts(e) and any(state[:2] in OF_DATA or kind.endswith(DATA) for kind, state in causes(e))


def conflicts(e: BaseException) -> bool:
    """Whether another commit to the table came between."""
    return any(state.startswith("2D") or kind.endswith(PASSING) for kind, state in causes(e))


def passes(e: BaseException) -> bool:
    """Whether it may go by itself: a lost executor or driver, a conflict, a disk's error, and what is not known."""
    if isinstance(e, duckdb.Error):
        return isinstance(e, duckdb.IOException | duckdb.OutOfMemoryException)
    if isinstance(e, PermissionError):
        return False
    *_, (innermost, _) = causes(e)
    return conflicts(e) or not innermost.endswith(FIXED)


def causes(e: BaseException) -> Iterator[tuple[str, str]]:
    """Class and SQLSTATE of an exception and of Java's behind it, outermost first, while they can be asked."""
    from py4j.java_gateway import is_instance_of  # type: ignore[import-untyped]
    from pyspark import SparkContext

    yield type(e).__name__, ""
    thrown: Any = getattr(e, "_origin", None) or getattr(e, "java_exception", None)
    with suppress(Exception):  # the Java that holds them may be gone
        for _ in range(20):
            if thrown is None:
                return
            says = is_instance_of(SparkContext._gateway, thrown, "org.apache.spark.SparkThrowable")
            yield str(thrown.getClass().getName()), str((thrown.getSqlState() if says else None) or "")
            thrown = thrown.getCause()


def last_line(e: Exception) -> str:
    """What Python said in an executor, or Spark in the driver."""
    lines = [x.strip() for x in str(e).splitlines() if x.strip()]
    said = [
        x for x in lines if not x.startswith(("at ", "File ", "Traceback", "...", "Caused by", "Driver stacktrace"))
    ]
    python = [x for x in said if ("Error: " in x or "Exception: " in x) and "org.apache" not in x and "Py4J" not in x]
    return (python or said or [type(e).__name__])[0][:300]
