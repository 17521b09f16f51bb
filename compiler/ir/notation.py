"""Relations in the notation of the papers: σ, π, ⋈, γ, with superscripts for time (⁻ before, ⁺ after, Δ)."""

from __future__ import annotations

from compiler.ir.relation import (
    Agg,
    Aggregate,
    Apply,
    Filter,
    Fixpoint,
    Join,
    Keys,
    LeftJoin,
    Net,
    Order,
    Project,
    Recur,
    Relation,
    Scan,
    Semi,
    State,
    Temp,
    TopK,
    Union,
    Unnest,
    Values,
    Weigh,
    Window,
    WindowCall,
)
from compiler.ir.scalar import TRUE, Call, Col, Lit, Outer, Scalar
from compiler.ir.subquery import AnySub, ExistsSub, ScalarSub, Sub

INFIX = {"=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "||"}
SUBQUERIES: dict[type[Sub], str] = {ScalarSub: "scalar", ExistsSub: "exists", AnySub: "any"}


def scalar(e: Scalar) -> str:
    """A scalar expression on one line."""
    if isinstance(e, Col):
        return e.name
    if isinstance(e, Outer):
        return f"outer.{e.name}"
    if isinstance(e, Lit):
        return (
            "NULL"
            if e.value is None
            else repr(e.value)
            if isinstance(e.value, str)
            else str(e.value).lower()
            if isinstance(e.value, bool)
            else str(e.value)
        )
    if isinstance(e, Sub):
        return f"{SUBQUERIES[type(e)]}({relation(e.query)})"
    assert isinstance(e, Call)
    args = [scalar(a) for a in e.args]
    if e.fn in INFIX and len(args) == 2:
        return f"{_in(e.args[0])} {e.fn} {_in(e.args[1])}"
    if e.fn in ("and", "or"):
        return f" {'∧' if e.fn == 'and' else '∨'} ".join(_in(a) for a in e.args)
    if e.fn == "not":
        return f"¬{_in(e.args[0])}"
    if e.fn == "same":
        return f"{_in(e.args[0])} ≡ {_in(e.args[1])}"
    if e.fn == "cast":
        return f"{_in(e.args[0])}::{e.type}"
    return f"{e.fn}({', '.join(args)})"


def _in(e: Scalar) -> str:
    text = scalar(e)
    return f"({text})" if isinstance(e, Call) and (e.fn in INFIX or e.fn in ("and", "or", "same")) else text


def _order(os: tuple[Order, ...]) -> str:
    return ", ".join(scalar(o.expr) + (" desc" if o.desc else "") for o in os)


def _agg(a: Agg | WindowCall) -> str:
    text = f"{a.fn}({'distinct ' if isinstance(a, Agg) and a.distinct else ''}{', '.join(map(scalar, a.args)) or '*'})"
    if a.order:
        text += f" order {_order(a.order)}"
    return text + (f" where {scalar(a.filter)}" if a.filter is not None else "")


def head(r: Relation) -> str:
    """The operator of one node, without its inputs."""
    match r:
        case Scan():
            return {"before": "{}⁻", "after": "{}⁺", "delta": "Δ{}"}[r.at].format(r.table.removeprefix("public."))
        case State():
            return {"before": "[{}]⁻", "after": "[{}]⁺", "delta": "Δ[{}]", "now": "[{}]"}[r.at].format(r.name)
        case Temp():
            return r.name
        case Values():
            return "∅" if not r.rows else f"values({len(r.rows)} rows)"
        case Project():
            return "π " + ", ".join(
                n if isinstance(e, Col) and e.name == n else f"{n} := {scalar(e)}" for n, e in r.exprs
            )
        case Filter():
            return f"σ {scalar(r.predicate)}"
        case Apply():
            return f"apply {'left' if r.outer else 'inner'}"
        case LeftJoin():
            return f"⟕ {scalar(r.on)}"
        case Join():
            return "×" if r.on == TRUE else f"⋈ {scalar(r.on)}"
        case Semi():
            return f"{'▷' if r.anti else '⋉'} {scalar(r.on)}"
        case Union():
            return "+"
        case Weigh():
            return "−" if isinstance(r.by, Lit) else f"× {scalar(r.by)}"
        case Aggregate():
            keys = ", ".join(k if isinstance(e, Col) and e.name == k else f"{k} := {scalar(e)}" for k, e in r.keys)
            return f"γ {keys or '()'}; {', '.join(f'{n} := {_agg(a)}' for n, a in r.aggs)}" if r.aggs else f"δ {keys}"
        case Window():
            part = ", ".join(map(scalar, r.partition)) or "()"
            return f"window by {part}: {', '.join(f'{n} := {_agg(c)}' for n, c in r.calls)}"
        case TopK():
            part = f" by {', '.join(map(scalar, r.partition))}" if r.partition else ""
            return (
                f"top {r.limit if r.limit is not None else '∞'}{f' skip {r.skip}' if r.skip else ''}{part} order "
                f"{_order(r.order)}"
            )
        case Unnest():
            return f"unnest {r.fn}({', '.join(map(scalar, r.args))})"
        case Keys():
            return f"keys {', '.join(scalar(e) for _, e in r.exprs)}"
        case Net():
            return "net"
        case Fixpoint():
            return f"μ {r.name}"
        case Recur():
            return r.name
    return type(r).__name__


def relation(r: Relation) -> str:
    """On one line."""
    if not r.inputs:
        return head(r)
    return f"{head(r)} ({', '.join(relation(i) for i in r.inputs)})"


def tree(r: Relation, indent: str = "") -> str:
    """One node a line, inputs indented."""
    lines = [indent + head(r)]
    lines += [tree(i, indent + "  ") for i in r.inputs]
    return "\n".join(lines)
