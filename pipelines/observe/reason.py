"""Why something failed, without a cell's value: an error's own message, and of its detail only known phrases.

An engine's or a server's detail quotes what it could not read ("Could not convert string 'x'"); messages of ours name
tables, columns, views and states.
"""

from __future__ import annotations

from compiler.errors import TidemarkError

LONGEST = 200  # characters
CAUSES = (
    # connections
    "connection refused",
    "timeout expired",
    "connection timed out",
    "no route to host",
    "network is unreachable",
    "could not translate host name",
    "failed to resolve host",
    "password authentication failed",
    "no pg_hba.conf entry",
    "server closed the connection unexpectedly",
    "connection reset by peer",
    "ssl error",
    "no such file or directory",
    "terminating connection due to administrator command",
    "the database system is starting up",
    "the database system is shutting down",
    "the database system is in recovery mode",
    "too many clients already",
    "remaining connection slots are reserved",
    "terminating walsender process due to replication timeout",
    # slots
    "is active for pid",
    "does not exist",
    "has been invalidated",
    "can no longer get changes",
    "requested wal segment",
    # engines
    "out of memory",
    "no space left on device",
    "could not set lock on file",
    "conversion error",
    "out of range error",
    "invalid input error",
    "constraint error",
    "binder error",
    "catalog error",
    "io error",
    "internal error",
    "cast_invalid_input",
    "cast_overflow",
    "arithmetic_overflow",
    "numeric_value_out_of_range",
    "divide_by_zero",
    "concurrentappendexception",
    "java heap space",
    "cannot run program",
)


def reason(e: BaseException) -> str:
    """For the log, `/readyz` and `status`: one line."""
    if isinstance(e, TidemarkError):
        return worded(e.message, e.detail)
    return worded(type(e).__name__, str(e))


def worded(message: str, detail: str) -> str:
    """`message`, and the known causes that `detail` names."""
    found = [c for c in CAUSES if c in detail.lower()]
    return _line(": ".join([message, *([", ".join(found)] if found else [])]))


def stored(error: str) -> str:
    """Of `DeployedView.error`, which is message: detail; '' of ''."""
    message, _, detail = error.partition(": ")
    return worded(message, detail) if error else ""


def _line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
