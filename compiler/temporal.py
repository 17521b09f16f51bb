"""Views that read the time: rows enter and leave them as it passes, also when nothing is written.

What does not depend on the time is kept in states and maintained by deltas; from the first operator that reads the time
upwards, the view is finished when it is read. The answer is right at every instant, and no clock has to tick.
"""

from __future__ import annotations

from dataclasses import replace

from compiler.ir.naming import fresh
from compiler.ir.parts import scalars
from compiler.ir.relation import Filter, Project, Relation, TopK, transform
from compiler.ir.scalar import Call, Col, Scalar, columns, conj, conjuncts, substitute
from compiler.ir.scalar import walk as walk_scalar


def reads_time(e: Scalar) -> bool:
    return any(isinstance(x, Call) and x.fn == "now" for x in walk_scalar(e))


def timed(r: Relation) -> set[Relation]:
    """The operators whose result depends on the time."""
    out: set[Relation] = set()
    done: set[Relation] = set()

    def go(n: Relation) -> None:
        if n in done:
            return
        done.add(n)
        for i in n.inputs:
            go(i)
        if any(i in out for i in n.inputs) or any(reads_time(e) for e in scalars(n)):
            out.add(n)

    go(r)
    return out


def after_ranking(r: Relation) -> Relation:
    """What reads the time, and no order asks for, computed of the rows that a LIMIT or DISTINCT ON leaves, not of
    all."""
    return transform(
        r, lambda n: _ranked_first(n, n.input) if isinstance(n, TopK) and isinstance(n.input, Project) else n
    )


def _ranked_first(n: TopK, shown: Project) -> Relation:
    asked = columns(*n.partition, *(o.expr for o in n.order))
    late = {k: e for k, e in shown.exprs if reads_time(e) and k not in asked}
    if not late:
        return n
    early = [(k, e) for k, e in shown.exprs if k not in late]
    have: dict[str, Scalar] = {e.name: Col(k, e.type) for k, e in reversed(early) if isinstance(e, Col)}
    for c in shown.input.schema:
        if c.name in columns(*late.values()) and c.name not in have:
            have[c.name] = Col(fresh(c.name, [*shown.names, *(k for k, _ in early)]), c.type)
            early.append((have[c.name].name, c))  # type: ignore[attr-defined]
    ranked = replace(n, input=Project(shown.input, tuple(early)))
    return Project(
        ranked, tuple((k, substitute(late[k], have) if k in late else Col(k, e.type)) for k, e in shown.exprs)
    )


def split_filters(r: Relation, within: set[Relation]) -> Relation:
    """Conditions that do not read the time below those that do."""
    if r not in within:
        return r
    r = r.rebuild(tuple(split_filters(i, within) for i in r.inputs)) if r.inputs else r
    if isinstance(r, Filter):
        parts = conjuncts(r.predicate)
        still = [p for p in parts if not reads_time(p)]
        if still and len(still) < len(parts):
            return Filter(Filter(r.input, conj(still)), conj([p for p in parts if reads_time(p)]))
    return r
