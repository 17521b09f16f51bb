"""A tree of inner joins as a list: what it joins, on which conditions, and its columns in terms of theirs."""

from __future__ import annotations

from dataclasses import dataclass, field

from compiler.ir.naming import fresh
from compiler.ir.relation import Filter, Join, Project, Relation, Semi
from compiler.ir.scalar import Scalar, columns, conjuncts, substitute

Columns = dict[str, Scalar]


@dataclass
class Flat:
    """σ_conditions(atom × atom × …). No two atoms have a column of one name; none of them is an inner join."""

    atoms: list[Relation] = field(default_factory=list)
    conditions: list[Scalar] = field(default_factory=list)
    exprs: Columns = field(default_factory=dict)  # the columns of the whole, over those of the atoms

    def atom_of(self, names: set[str]) -> int | None:
        """The atom that has all of these columns; None where none has."""
        return next((i for i, a in enumerate(self.atoms) if names <= set(a.names)), None)


def flat(r: Relation) -> Flat:
    """The joins at the top of a relation, through projections, conditions and semi-joins of one of what is joined."""
    out = Flat()
    taken = {n for s in _semis(r) for n in s.right.names}
    out.exprs = _gathered(r, out, taken)
    out.conditions = list(dict.fromkeys(out.conditions))
    return out


def _gathered(r: Relation, out: Flat, taken: set[str]) -> Columns:
    """The columns of `r` over the atoms that it adds."""
    if not _joins(r):
        return _atom(r, out, taken)
    if isinstance(r, Join):
        both = {**_gathered(r.left, out, taken), **_gathered(r.right, out, taken)}
        out.conditions += [substitute(c, both) for c in conjuncts(r.on)]
        return both
    if isinstance(r, Filter):
        gathered = _gathered(r.input, out, taken)
        out.conditions += [substitute(c, gathered) for c in conjuncts(r.predicate)]
        return gathered
    if isinstance(r, Project):
        gathered = _gathered(r.input, out, taken)
        return {n: substitute(e, gathered) for n, e in r.exprs}
    assert isinstance(r, Semi)
    trial = Flat(list(out.atoms), list(out.conditions))
    gathered = _gathered(r.left, trial, set(taken))
    on = substitute(r.on, {n: e for n, e in gathered.items() if n not in r.right.names})
    at = trial.atom_of(columns(on) - set(r.right.names))
    if at is None or at < len(out.atoms):  # it reads columns of several, and stays whole
        return _atom(r, out, taken)
    trial.atoms[at] = Semi(trial.atoms[at], r.right, on, r.anti)
    out.atoms, out.conditions = trial.atoms, trial.conditions
    taken |= {n for a in out.atoms for n in a.names}
    return gathered


def _atom(r: Relation, out: Flat, taken: set[str]) -> Columns:
    named = {c.name: fresh(c.name, taken) for c in r.schema}
    if any(old != new for old, new in named.items()):
        r = Project(r, tuple((named[c.name], c) for c in r.schema))
    out.atoms.append(r)
    taken |= set(r.names)
    return dict(zip(named, r.schema, strict=True))


def _joins(r: Relation) -> bool:
    """Whether an inner join is at the top, below what the list goes through."""
    match r:
        case Join():
            return True
        case Filter() | Project():
            return _joins(r.input)
        case Semi():
            return _joins(r.left)
    return False


def _semis(r: Relation) -> list[Semi]:
    match r:
        case Join():
            return [*_semis(r.left), *_semis(r.right)]
        case Filter() | Project():
            return _semis(r.input)
        case Semi():
            return [r, *_semis(r.left)]
    return []
