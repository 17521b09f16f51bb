"""Which relations are changes, whose rows are added up, and which are rows at a time, some of which may cancel."""

from __future__ import annotations

from compiler.ir.relation import Keys, Relation, Scan, Semi, State, Temp, Union


def changes(r: Relation) -> bool:
    """Whether each row of a relation comes of a batch's change; False also of sums where that is not known."""
    match r:
        case Scan() | State():
            return r.at == "delta"
        case Temp():
            return r.signed
        case Keys():
            return False
        case Semi():
            return changes(r.left)
        case Union():
            return all(map(changes, r.parts))
    return any(map(changes, r.inputs))
