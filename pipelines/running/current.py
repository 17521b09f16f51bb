"""What a running pipeline reads from: it changes with a deploy, and what was read from until then is closed once
nobody reads it any more."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from pipelines.asking.reading import LocalReader


class Current:
    """The reader of whoever asks now. `close` ends the last one; those before it end with their last request."""

    def __init__(self, reader: LocalReader) -> None:
        self.reader = reader
        self.lock = threading.Lock()
        self.users: Counter[int] = Counter()

    @contextmanager
    def use(self) -> Iterator[LocalReader]:
        """For one request."""
        with self.lock:
            reader = self.reader
            self.users[id(reader)] += 1
        try:
            yield reader
        finally:
            with self.lock:
                self.users[id(reader)] -= 1
                over = reader is not self.reader and not self.users[id(reader)]
            if over:
                reader.warehouse.close()

    def become(self, reader: LocalReader) -> None:
        """From now on."""
        with self.lock:
            before, self.reader = self.reader, reader
            over = not self.users[id(before)]
        if over:
            before.warehouse.close()
