"""How often keys of partial views were asked for, of late: a count that is halved every ten minutes."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Iterable

import pyarrow as pa

HALF_LIFE = 600.0  # seconds
Key = tuple[str, ...]


class Uses:
    """Of each view, its keys' counts. They are no more than advice, and begin anew with the process.

    What is halved is not touched: a use counts for more the later it is, and only the order matters.
    """

    def __init__(self) -> None:
        self.lock, self.began = threading.Lock(), time.monotonic()
        self.counts: dict[str, dict[Key, float]] = {}
        self.waiting: Counter[tuple[str, Key]] = Counter()  # keys that somebody has asked for and not been told of
        self.hits: Counter[str] = Counter()
        self.misses: Counter[str] = Counter()

    def asked(self, view: str, keys: Iterable[Key], missing: int) -> None:
        """Somebody was told of keys, of which so many had not been there."""
        worth = math.exp2((time.monotonic() - self.began) / HALF_LIFE)
        with self.lock:
            counts, n = self.counts.setdefault(view, {}), 0
            for k in keys:
                counts[k] = counts.get(k, 0.0) + worth
                n += 1
            self.hits[view] += n - missing
            self.misses[view] += missing
            if worth > 1e100:
                self._rescale(worth)

    def _rescale(self, worth: float) -> None:
        self.began = time.monotonic()
        for counts in self.counts.values():
            for k in counts:
                counts[k] /= worth

    def wait(self, view: str, keys: Iterable[Key]) -> None:
        """Keys that are not to leave until `released`."""
        with self.lock:
            self.waiting.update((view, k) for k in keys)

    def released(self, view: str, keys: Iterable[Key]) -> None:
        with self.lock:
            self.waiting.subtract((view, k) for k in keys)
            self.waiting += Counter()  # without those that nobody waits for

    def rarest(self, view: str, weights: pa.Table, free: int) -> pa.Table:
        """Of keys as text in c0…, with their `bytes`, those to leave so that as many bytes as `free` are free: the
        ones that were asked for least, and none that somebody waits for."""
        names = [n for n in weights.column_names if n != "bytes"]
        keys = list(zip(*(weights[n].to_pylist() for n in names), strict=True))
        size = weights["bytes"].to_pylist()
        with self.lock:
            counts = self.counts.setdefault(view, {})
            held = {k for v, k in self.waiting if v == view}
            order = sorted((counts.get(k, 0.0), i) for i, k in enumerate(keys) if k not in held)
            chosen, sum_ = [], 0
            for _, i in order:
                if sum_ >= free:
                    break
                chosen.append(i)
                sum_ += size[i]
            for i in chosen:
                counts.pop(keys[i], None)
        return weights.select(names).take(pa.array(chosen, pa.int64()))


def keys_in(t: pa.Table) -> list[Key]:
    """Keys as text in c0…"""
    return list(zip(*(t[n].to_pylist() for n in t.column_names), strict=True))
