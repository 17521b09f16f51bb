"""Names of states: what they are about, and a hash of their definition, so that equal parts of views share one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace

from compiler.ir.relation import Project, Relation, Scan, transform, walk
from compiler.ir.scalar import columns
from compiler.simplify.prune import prune


def state_name(words: Iterable[str], definition: Relation, role: str = "") -> str:
    """A name of at most 44 letters, the state's role in its view, and the hash of its definition."""
    return f"{slug(words)}{'_' if role else ''}{role}_{digest(definition)}"


def tables_of(r: Relation) -> list[str]:
    """The first tables that a relation reads, without their schemas."""
    return sorted({s.table.split(".")[-1] for s in walk(r) if isinstance(s, Scan)})[:3]


def digest(r: Relation) -> str:
    """Of what the relation reads: columns of a table that it does not read may come, go and change."""
    return short_hash(repr(transform(prune(r), _as_read)))


def _as_read(n: Relation) -> Relation:
    """A scan with the columns that are taken of it, and its key."""
    if not isinstance(n, Project) or not isinstance(n.input, Scan):
        return n
    read = columns(*(e for _, e in n.exprs)) | {*n.input.key}
    scan = replace(n.input, cols=tuple(c for c in n.input.cols if c.name in read))
    return scan if n.exprs == tuple((c.name, c) for c in scan.cols) else Project(scan, n.exprs)


def short_hash(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()[:8]


def slug(parts: Iterable[str]) -> str:
    return re.sub(r"[^a-z0-9_]+", "_", "_".join(parts).lower()).strip("_")[:44] or "state"
