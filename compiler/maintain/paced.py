"""States that take their inputs' changes at a pace of their own: what they have not taken yet waits in logs.

Between two batches a state may have taken more of one input than of another. What it has taken of an input is that
input as it is now, less what waits: so every state is at any time its definition over inputs that are known exactly,
and to take what waits of some of them is the delta rule with that as its Δ (`flush`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from compiler.ir.relation import Net, Project, Relation, Scan, State, transform, walk
from compiler.maintain.kept import Accumulated, Bag, Kept, Log, Recomputed, Waiting, own
from compiler.maintain.naming import short_hash
from compiler.simplify.prune import leaves_read


@dataclass(frozen=True)
class Path:
    """What is read of an input on its way into a state: a table's name with its schema, or a state's."""

    source: str
    state: str


def paced(states: Iterable[Kept], top: Relation) -> tuple[list[Kept], Relation]:
    """A view's states and its top, every state with a log for each of its inputs. Other paced views may have some of
    them, too (`cohort`); views that are fresh in each batch have none of them."""
    out: list[Kept] = []
    names: dict[str, str] = {}

    def renamed(r: Relation) -> Relation:
        return transform(r, lambda n: replace(n, name=names[n.name]) if isinstance(n, State) else n)

    for s in states:
        assert isinstance(s, Accumulated | Recomputed | Bag)
        names[s.name] = f"{s.name}_paced"
        own = replace(s.mapped(renamed), name=names[s.name])
        waits = tuple(_waiting(own, i) for i in _inputs(own))
        out += [*(w.log for w in waits), replace(own, waits=waits)]
    return out, renamed(top)


def waiting(states: Iterable[Kept]) -> list[tuple[Path, Waiting]]:
    """What waits on each way from an input into a state, those of states that others read first."""
    return [(Path(w.source, s.name), w) for s in own(states) for w in s.waits]


def paths(states: Iterable[Kept]) -> list[Path]:
    return [path for path, _ in waiting(states)]


def whole(states: Iterable[Kept]) -> list[tuple[str, frozenset[str]]]:
    """Each state with all of its inputs: what is taken to finish a view, in this order."""
    return [(s.name, frozenset(w.source for w in s.waits)) for s in own(states) if s.waits]


def logs(states: Iterable[Kept]) -> dict[str, Path]:
    """By the names of what waits, the paths."""
    return {w.log.name: path for path, w in waiting(states)}


def at_once(s: Kept) -> Kept:
    """The state as one that takes its inputs' changes in each batch."""
    return s if isinstance(s, Log) or not s.waits else replace(s, waits=())


def arriving(w: Waiting) -> Relation:
    """What a batch puts behind what waits of a table."""
    assert w.scan is not None
    rows = replace(w.scan, at="delta")
    return Net(Project(rows, tuple((c.name, c) for c in w.log.schema)))


def _inputs(s: Kept) -> list[tuple[Scan | State, set[str]]]:
    """The tables and states that a state reads, each once, with the columns that it reads of them."""
    found: dict[str, tuple[Scan | State, set[str]]] = {}
    for n, names in leaves_read(s.definition).items():
        if isinstance(n, Scan | State):
            columns = found.setdefault(_name(n), (n, set()))
            columns[1].update(names if isinstance(n, Scan) else n.names)
    assert len(found) == len({_name(n) for n in walk(s.definition) if isinstance(n, Scan | State)})
    return list(found.values())


def _waiting(s: Kept, read: tuple[Scan | State, set[str]]) -> Waiting:
    """What of an input is not taken yet: the columns that are read, and what tells its rows apart."""
    of, names = read
    if isinstance(of, Scan):
        names = names | set(of.key or of.names)
    columns = tuple(c for c in of.schema if c.name in names)
    log = Log(f"{s.name}_of_{short_hash(_name(of))}", columns, True)
    return Waiting(_name(of), log, of if isinstance(of, Scan) else None)


def _name(n: Scan | State) -> str:
    return n.table if isinstance(n, Scan) else n.name
