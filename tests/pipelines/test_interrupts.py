"""Interrupts that Python drops are heard."""

from __future__ import annotations

import subprocess
import sys

DELETED = """
import signal, time
from pipelines.interrupts import keep_interrupts
keep_interrupts()

class Deleted:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

try:
    Deleted()
    time.sleep(20)
except KeyboardInterrupt:
    print("heard")
"""


def test_an_interrupt_while_an_object_is_deleted_is_heard() -> None:
    done = subprocess.run([sys.executable, "-c", DELETED], capture_output=True, text=True, timeout=15, check=False)
    assert done.stdout == "heard\n" and not done.stderr
