"""Partial: of a view, the rows of the keys that somebody asked for (Noria, chapters 3 and 4).

What a strategy keeps for every key is held down to a table of keys: each state's definition is restricted by it, down
to the tables. A change of the source to keys that are not there meets nothing in that table, and costs no more. A key
that arrives is filled by the definition restricted to it (an upquery); one that leaves takes its rows with it.

Where the key cannot be followed down to a table the view is refused: a state there would be whole, or would need keys
that nobody can name.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, replace

from compiler.delta.restrict import Pairs, equalities, restrict
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.ir.relation import (
    Aggregate,
    Fixpoint,
    LeftJoin,
    Relation,
    Scan,
    Semi,
    State,
    TopK,
    Unnest,
    Values,
    Window,
    transform,
    walk,
)
from compiler.ir.scalar import Col
from compiler.ir.types import QUOTIENT_SCALE, is_numeric
from compiler.maintain.asked import Asked
from compiler.maintain.kept import Accumulated, Bag, Held, Kept, Recomputed
from compiler.maintain.little import findable
from compiler.maintain.naming import digest
from compiler.maintain.offer import Offer, Wanted
from compiler.maintain.strategy import first_order
from compiler.simplify.prune import prune

NAME = "partial"
HINT = "Choose another key, or leave strategy and key out: then all of the view is kept."


def offer(w: Wanted) -> Offer:
    """What first order keeps, for the keys alone. Raises InvalidSql for a key that is none, UnsupportedSql."""
    asked, columns = key_of(w)
    if not any(isinstance(n, Scan) for n in walk(w.query)):
        raise untraced(asked, "the view reads no table")
    got = held(first_order.offer(w), asked, columns)
    if not w.mirrors:
        got.by_key = by_key(got, asked)
        if not got.by_key:
            raise untraced(asked, "no table has it as columns of its own, so that each would be mirrored whole")
        got.notes += _told(got, w.query)
    got.states = [_pruned(s) for s in got.states]
    return got


def _pruned(s: Kept) -> Kept:
    """A restriction reads all columns of what it restricts, and a mirror has those alone that are read."""
    definition = prune(s.definition)
    if isinstance(s, Accumulated | Recomputed):
        assert isinstance(definition, Aggregate)
        return replace(s, definition=definition)
    return replace(s, definition=definition) if isinstance(s, Bag) else s


def by_key(o: Offer, asked: Asked) -> dict[str, tuple[str, ...]]:
    """The tables that are read for the keys alone, everywhere, with the columns that are the key there, in its order:
    of others than these keys' rows nothing needs to be kept."""
    found: dict[str, set[tuple[str, ...] | None]] = {}
    keys = asked.read()

    def look(r: Relation) -> None:
        if isinstance(r, Scan):
            found.setdefault(r.table, set()).add(None)
        for n in walk(r):
            for i, scan in enumerate(n.inputs):
                if isinstance(scan, Scan) and scan.table != asked.name:
                    restricted = isinstance(n, Semi) and i == 0 and not n.anti and n.right == keys
                    columns = _columns(n, scan, asked) if isinstance(n, Semi) and restricted else None
                    found.setdefault(scan.table, set()).add(columns)

    for s in o.states:
        look(s.definition)
    look(o.top)
    return {t: c for t, some in found.items() if len(some) == 1 and (c := next(iter(some))) is not None}


def _columns(n: Semi, scan: Scan, asked: Asked) -> tuple[str, ...] | None:
    """The columns of a table that a restriction compares with the whole key, as they are; None where it does not, or
    where the table has no primary key."""
    keys = asked.read()
    pairs = {k.name: e for e, k in equalities(n.on, scan, keys) if isinstance(k, Col)}
    exprs = [pairs.get(name) for name in keys.names]
    alike = bool(scan.key) and all(
        isinstance(e, Col) and e.type == k.type for e, k in zip(exprs, asked.columns, strict=True)
    )
    return tuple(e.name for e in exprs if isinstance(e, Col)) if alike else None


def _told(o: Offer, q: Relation) -> list[str]:
    tables = {n.table for n in walk(q) if isinstance(n, Scan)}
    some = ", ".join(sorted(o.by_key))
    whole = ", ".join(sorted(tables - o.by_key.keys()))
    notes = [f"kept for the keys alone, and read from the source for one that arrives: {some}"]
    return notes + ([f"mirrored whole, as their rows do not tell the key: {whole}"] if whole else [])


def key_of(w: Wanted) -> tuple[Asked, tuple[Col, ...]]:
    """The keys of the view, and the columns of its query that make them. Raises InvalidSql."""
    outputs = dict(w.outputs)
    if not w.key:
        raise InvalidSql(
            f'view "{w.view}" is partial, and says no key',
            hint=f"WITH (strategy = 'partial', key = '{next(iter(outputs), 'id')}'): the columns that readers ask by.",
            code="partial_key",
        )
    for name in w.key:
        if name not in outputs:
            near = difflib.get_close_matches(name, outputs, 1)
            raise InvalidSql(
                f'view "{w.view}" has no column "{name}" to be its key',
                hint=f'Perhaps you meant "{near[0]}".' if near else f"Its columns: {', '.join(outputs)}.",
                code="partial_key",
            )
    asked = Asked(w.view, tuple(Col(n, outputs[n].type) for n in w.key), seen=not w.mirrors)
    check_key(w.view, asked)
    return asked, tuple(outputs[n] for n in w.key)


def check_key(view: str, asked: Asked) -> None:
    """Raises InvalidSql for a key of a type whose equal values may be written in several ways."""
    for c in asked.columns:
        quotient = is_numeric(c.type) and (c.type.scale or 0) >= QUOTIENT_SCALE  # Postgres has it with other digits
        if quotient or not (findable(c.type, c.type) or c.type.name == "enum"):
            raise InvalidSql(
                f'view "{view}" cannot be kept by "{c.name}"',
                detail=f"It is of type {c.type}: equal values of it may be written in several ways.",
                hint="Keys are whole numbers, text, uuid, date, timestamp, bool, enum, or numeric of a declared scale.",
                code="partial_key",
            )


def held(offered: Offer, asked: Asked, columns: tuple[Col, ...]) -> Offer:
    """A strategy's offer, its states held down to the keys. Raises UnsupportedSql where the key cannot be followed."""
    return _Holding(asked, {s.name: s for s in offered.states}).held(offered, columns)


@dataclass
class _Holding:
    asked: Asked
    states: dict[str, Kept]
    wanted: dict[str, list[Pairs | None]] = field(default_factory=dict)  # state → how each reader restricts it
    cut: dict[str, tuple[Relation, Pairs]] = field(default_factory=dict)  # state → its definition by key, and the key

    def held(self, offered: Offer, columns: tuple[Col, ...]) -> Offer:
        """An offer whose states hold the keys that are asked for, where each reader restricts a state alike; the others
        stay whole, which a note says. Raises UnsupportedSql where no state can be held so."""
        keys = self.asked.read()
        top = self.followed(restrict(offered.top, keys, list(zip(columns, keys.schema, strict=True))))
        for s in reversed(offered.states):
            pairs = self.pairs_of(s.name)
            if pairs:
                self.cut[s.name] = self.followed(restrict(s.definition, keys, pairs)), pairs
            else:
                self.followed(s.definition)
        if not self.cut:
            raise untraced(self.asked, "no part of what is kept can be told apart by it")
        renamed: dict[str, Kept] = {}
        states = [self.renamed(s, renamed) for s in offered.states]
        kept = [s.name for s in offered.states if s.name not in self.cut]
        notes = [f"kept for every key, as other columns are read by: {', '.join(kept)}"] if kept else []
        return Offer(states, self.over(top, renamed), [*offered.notes, *notes], self.asked)

    def followed(self, r: Relation) -> Relation:
        """r, where the restriction to the keys stands above tables and states alone; how it reads states is noted."""
        keys = self.asked.read()
        under = {n.left for n in walk(r) if isinstance(n, Semi) and n.right == keys}
        for n in walk(r):
            if isinstance(n, Semi) and n.right == keys:
                if not isinstance(n.left, Scan | State | Values):
                    raise untraced(self.asked, broken(n.left))
                if isinstance(n.left, State):
                    pairs = [(e, k) for e, k in equalities(n.on, n.left, keys) if isinstance(k, Col)]
                    self.wanted.setdefault(n.left.name, []).append(pairs)
            elif isinstance(n, State) and n not in under:
                self.wanted.setdefault(n.name, []).append(None)
        return r

    def pairs_of(self, state: str) -> Pairs | None:
        """How all readers restrict a state; None where one of them reads other rows too, or the rows of several keys
        are the same: by a part of the key."""
        found = self.wanted.get(state, [])
        if not found or any(p is None or p != found[0] for p in found):
            return None
        pairs = found[0] or []
        return pairs if {k.name for _, k in pairs} == set(self.asked.read().names) else None

    def over(self, r: Relation, renamed: dict[str, Kept]) -> Relation:
        """r over the states as they are now: what is held needs no restriction."""

        def one(n: Relation) -> Relation:
            if isinstance(n, State) and n.name in renamed:
                return replace(n, name=renamed[n.name].name)
            if isinstance(n, Semi) and isinstance(n.left, State) and n.right == self.asked.read():
                return n.left if n.left.name in {s.name for k, s in renamed.items() if k in self.cut} else n
            return n

        return transform(r, one)

    def renamed(self, s: Kept, renamed: dict[str, Kept]) -> Kept:
        """The state over those below it, held where it can be, under a name of its own."""
        whole = self.over(s.definition, renamed)
        cut, pairs = self.cut.get(s.name, (None, []))
        definition = self.over(cut, renamed) if cut is not None else whole
        if definition == s.definition:
            return s
        name = f"{s.name.removesuffix('_' + digest(s.definition))}_{digest(definition)}"
        note = Held(self.asked, tuple(pairs), whole) if cut is not None else None
        match s:
            case Accumulated() | Recomputed():
                assert isinstance(definition, Aggregate)
                new: Kept = replace(s, name=name, definition=definition, held=note)
            case Bag():
                new = replace(s, name=name, definition=definition, held=note)
            case _:
                raise untraced(self.asked, "what it is made of lags")
        renamed[s.name] = new
        return new


def broken(n: Relation) -> str:
    """What breaks the trace of a key, in words."""
    match n:
        case Aggregate():
            return "it is the result of an aggregate, or rows are grouped by other columns"
        case Window():
            return "it is the result of a window, or the window is partitioned by other columns"
        case TopK():
            return "LIMIT or DISTINCT ON ranges over rows of several keys"
        case Unnest():
            return "it is made of an array or a series"
        case LeftJoin():
            return "it comes from the side of an outer join that may be missing"
        case Fixpoint():
            return "it is the result of a recursion"
    return "it is computed from columns of several tables"


def untraced(asked: Asked, why: str) -> UnsupportedSql:
    names = ", ".join(c.name for c in asked.columns)
    return UnsupportedSql(
        f'view "{asked.view}" cannot be partial by "{names}"',
        detail=f"The key cannot be followed down to the tables: {why}.",
        hint=HINT,
        code="partial_untraced",
    )
