"""Names of states: what they are about, and a hash of their definition, so that equal parts of views share one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from compiler.ir.relation import Relation, Scan, walk


def state_name(words: Iterable[str], definition: Relation, role: str = "") -> str:
    """A name of at most 44 letters, the state's role in its view, and the hash of its definition."""
    return f"{slug(words)}{'_' if role else ''}{role}_{digest(definition)}"


def tables_of(r: Relation) -> list[str]:
    """The first tables that a relation reads, without their schemas."""
    return sorted({s.table.split(".")[-1] for s in walk(r) if isinstance(s, Scan)})[:3]


def digest(r: Relation) -> str:
    return short_hash(repr(r))


def short_hash(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()[:8]


def slug(parts: Iterable[str]) -> str:
    return re.sub(r"[^a-z0-9_]+", "_", "_".join(parts).lower()).strip("_")[:44] or "state"
