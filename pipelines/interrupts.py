"""An interrupt is heard wherever it comes: also where an object is being deleted, where Python prints the exception
and goes on."""

from __future__ import annotations

import signal
import sys
import threading

AGAIN = 0.01  # seconds until an interrupt that was dropped is raised again


def keep_interrupts() -> None:
    """From now on an interrupt that Python drops is raised again a moment later."""
    hook = sys.unraisablehook

    def heard(dropped: sys.UnraisableHookArgs) -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            main = threading.main_thread().ident
            again = threading.Timer(AGAIN, signal.pthread_kill, (main, signal.SIGINT))  # it may be asleep
            again.daemon = True
            again.start()
        else:
            hook(dropped)

    sys.unraisablehook = heard
