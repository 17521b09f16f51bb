"""LIMIT without ORDER BY over a recursion: Postgres stops it when it has as many rows as are asked for, and so does
this.

Each row carries how many rows its round and those before it have found (of UNION ALL), or the number of its round
(of UNION, where each round that is not the last finds a new row). A round follows only where that is still too few,
and the first rows are the rows of the first rounds. What nothing ends is refused.
"""

from __future__ import annotations

from compiler.errors import UnsupportedSql
from compiler.ir import types
from compiler.ir.naming import fresh
from compiler.ir.relation import (
    Agg,
    Aggregate,
    Filter,
    Fixpoint,
    Order,
    Project,
    Recur,
    Relation,
    TopK,
    Window,
    WindowCall,
    transform,
    walk,
)
from compiler.ir.rounds import carried
from compiler.ir.scalar import Call, Col, Lit, Scalar, conj, substitute
from compiler.ir.types import BOOL, INT8


def bound_recursions(r: Relation) -> Relation:
    """Recursions under a LIMIT that end with it; raises UnsupportedSql where one has no end."""
    r = transform(r, lambda n: _limited(n) if isinstance(n, TopK) else n)
    for n in walk(r):
        if isinstance(n, Fixpoint) and _endless(n):
            raise UnsupportedSql(
                "a recursion that nothing ends is not supported",
                code="unsupported_recursion",
                detail="Each of its rounds has rows for the next one.",
                hint="End it by a condition in WHERE, or by a LIMIT without ORDER BY right above it.",
            )
    return r


def _limited(n: TopK) -> Relation:
    if n.order or n.partition or n.limit is None or n.with_ties:
        return n
    ops: list[Relation] = []
    q: Relation = n.input
    while isinstance(q, Project | Filter):
        ops.append(q)
        q = q.input
    if not isinstance(q, Fixpoint) or q.distinct and not _computes(q):
        return n
    most = Lit(n.limit + n.skip, INT8)
    met: list[Scalar] = []
    for i, op in enumerate(ops):
        if isinstance(op, Filter):
            p = op.predicate
            for below in ops[i + 1 :]:
                p = substitute(p, dict(below.exprs)) if isinstance(below, Project) else p
            met.append(p)
    if q.distinct and met:
        return n  # of rows that are found again, each would count
    col = Col(fresh("seen", [x for m in walk(n) for x in m.names]), INT8)
    bounded = _by_rounds(q, col, most) if q.distinct else _by_rows(q, col, most, conj(met) if met else None)
    if bounded is None:
        return n
    out = bounded
    for op in reversed(ops):
        out = Project(out, (*op.exprs, (col.name, col))) if isinstance(op, Project) else op.rebuild((out,))
    return Project(TopK(out, (), (Order(col),), n.limit, n.skip), tuple((c.name, c) for c in n.schema))


def _again(q: Fixpoint, col: Col, most: Lit) -> Relation | None:
    """The step over rows of a round after which there is another."""
    step = carried(q.step, q.name, col)
    going = Call("<", (col, most), BOOL)
    return (
        None
        if step is None
        else transform(step, lambda n: Filter(n, going) if isinstance(n, Recur) and n.name == q.name else n)
    )


def _by_rows(q: Fixpoint, col: Col, most: Lit, met: Scalar | None) -> Relation | None:
    step = _again(q, col, most)
    if step is None:
        return None
    number = Col(fresh("found", [*step.names, *q.names]), INT8)

    def found(r: Relation, before: Scalar | None) -> Relation:
        here = (
            met
            if r.names == q.names or met is None
            else substitute(met, {a.name: b for a, b in zip(q.schema, r.schema, strict=False)})
        )
        some = r if met is not None else TopK(r, (), (), int(str(most.value)))  # more of one round are not asked for
        counted = Window(some, (), ((number.name, WindowCall("count", (), INT8, filter=here)),))
        total: Scalar = number if before is None else Call("+", (before, number), INT8)
        return Project(counted, (*((a.name, b) for a, b in zip(q.schema, r.schema, strict=False)), (col.name, total)))

    return Fixpoint(q.name, found(q.base, None), found(step, col), False, ends=True)


def _by_rounds(q: Fixpoint, col: Col, most: Lit) -> Relation | None:
    step = _again(q, col, most)
    if step is None:
        return None
    base = Project(q.base, (*((c.name, c) for c in q.schema), (col.name, Lit(0, INT8))))
    after = Project(
        step,
        (
            *((a.name, b) for a, b in zip(q.schema, q.step.schema, strict=True)),
            (col.name, Call("+", (col, Lit(1, INT8)), INT8)),
        ),
    )
    first = Agg("min", (col,), INT8)
    return Aggregate(
        Fixpoint(q.name, base, after, True, ends=True), tuple((c.name, c) for c in q.schema), ((col.name, first),)
    )


def _computes(q: Fixpoint) -> bool:
    """Whether a round may find values that no table has, so that there may be no end to them."""
    return any(not isinstance(e, Col | Lit) for n in walk(q.step) if isinstance(n, Project) for _, e in n.exprs)


def _endless(q: Fixpoint) -> bool:
    """Whether each row surely has a row in the next round: a step that only computes; of UNION, one that counts on."""
    r, exprs = q.step, {c.name: c for c in q.step.schema}
    computed: dict[str, Scalar] = dict(exprs)
    while isinstance(r, Project):
        computed = {n: substitute(e, dict(r.exprs)) for n, e in computed.items()}
        r = r.input
    if not isinstance(r, Recur) or r.name != q.name:
        return False
    return not q.distinct or any(
        _counts_on(computed[s.name], c.name) for s, c in zip(q.step.schema, r.schema, strict=True)
    )


def _counts_on(e: Scalar, name: str) -> bool:
    while isinstance(e, Call) and e.fn == "cast" and types.is_exact(e.type):
        e = e.args[0]
    if not isinstance(e, Call) or e.fn not in ("+", "-") or len(e.args) != 2:
        return False
    a, b = e.args
    return (
        isinstance(a, Col)
        and a.name == name
        and isinstance(b, Lit)
        and types.is_exact(b.type)
        and b.value is not None
        and float(str(b.value)) != 0
    )
