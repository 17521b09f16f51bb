"""The session of a process, and the Java it runs in: started when first needed, and again when it is gone."""

from __future__ import annotations

import contextlib
from threading import RLock
from typing import Any

from connectors.spark.session import start


def alive(session: Any) -> bool:
    """Whether its Java answers, and has not stopped it."""
    try:
        return not session.sparkContext._jsc.sc().isStopped()
    except Exception:
        return False


def forget_lost() -> None:
    """Forget this process' session where Spark has stopped it, and its Java where that is gone: others are started."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    gateway: Any = SparkContext._gateway
    context: Any = SparkContext._active_spark_context
    if context is not None and not alive(SparkSession._instantiatedSession):
        with contextlib.suppress(Exception):
            context._jsc = None  # whom nobody can tell to stop
            context.stop()
        SparkContext._active_spark_context = None
        SparkSession._instantiatedSession = SparkSession._activeSession = None
    if gateway is not None and not answers(gateway):
        with contextlib.suppress(Exception):
            gateway.shutdown()
        with contextlib.suppress(Exception):
            gateway.proc.stdin.close()
            gateway.proc.wait(10)
        SparkContext._gateway = SparkContext._jvm = None


def answers(gateway: Any) -> bool:
    try:
        return bool(gateway.jvm.java.lang.System.currentTimeMillis())
    except Exception:
        return False


ONE = RLock()  # a process has one session, whoever asks for it


class Driver:
    """Gives the session, and sessions beside it for commits that carry settings of their own."""

    def __init__(self, master: str, jars: str, settings: dict[str, str]) -> None:
        self.master, self.jars, self.settings = master, jars, settings
        self._session: Any = None
        self._free: list[Any] = []

    @property
    def session(self) -> Any:
        with ONE:
            if self._session is None:
                forget_lost()
                self._session = start(self.master, self.jars, self.settings)
            return self._session

    def mend(self) -> None:
        """Let go of a session that does not answer."""
        with ONE:
            if self._session is not None and not alive(self._session):
                self._session, self._free = None, []
                forget_lost()

    @contextlib.contextmanager
    def beside(self) -> Any:
        """A session of its own settings, kept for the next who needs one unless the block fails."""
        with ONE:
            session = self._free.pop() if self._free else self.session.newSession()
        yield session
        self._free.append(session)

    def stop(self) -> None:
        with ONE:
            if self._session is not None:
                self._session.stop()
                self._session, self._free = None, []
