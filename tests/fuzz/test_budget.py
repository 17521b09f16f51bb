"""A short hunt in every run of the tests; `scripts/fuzz --minutes N` is the long one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_random_views_are_the_sources_own_answer(server: str) -> None:
    options = {
        "minutes": "0.1",
        "seed": "21",
        "views": "8",
        "batches": "3",
        "dsn": server,
        "command": str(Path(sys.executable).with_name("tidemark")),
    }
    flags = [x for k, v in options.items() for x in (f"--{k}", v)]
    p = subprocess.run([sys.executable, ROOT / "scripts" / "fuzz", *flags], capture_output=True, text=True, cwd=ROOT)
    assert p.returncode == 0, p.stdout[-4000:] + p.stderr[-2000:]
    assert " 0 failures" in p.stdout
