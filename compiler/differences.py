"""Where a view may differ from Postgres although it is accepted: what deploy warns of. docs/functions.md has the
cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from compiler.ir import types
from compiler.ir.parts import scalars
from compiler.ir.relation import Aggregate, Filter, Relation, Window
from compiler.ir.scalar import Call, Col, Lit, Scalar, conjuncts, walk
from compiler.opaque import every

ALTERNATIVES = "of the alternatives of a pattern (a|b) it takes the first that matches; Postgres takes the longest"
MADE = (
    "it casts text or json to jsonb, which stays as it is written: keys in their order, equal ones twice, blanks and "
    "digits as they "
    "are; compared as a whole it may differ from an equal one"
)
JSON_PARTS = (
    "it reads parts of json (not jsonb): blanks within a part are not kept, and of equal keys the first is read"
)
JSON_KEYS = (
    "a jsonb value that rows are grouped by, or told apart by, is shown with its numbers in one form: 12.50 as 12.5"
)
INTERVAL_KEYS = (
    "an interval that rows are grouped by, told apart by or that is the least or greatest keeps its spelling "
    "where it is changed to an equal one: 1 day to 24:00"
)
SIGNS = "it shows a float as text: of 0 and -0, which are equal, it may show the other"
READ = (
    "it casts text to {}: what is not written as Postgres writes it (a seventh digit of a second, escapes) may be "
    "read in another way"
)
ZONES = (
    "it takes time zones from values: they are read as full names, while an abbreviation is an offset "
    "for Postgres: CET, IST"
)
REALS = (
    "it adds reals, which Postgres does in single precision and in the order it reads them: the last of "
    "seven digits may differ"
)
QUOTIENTS = (
    "it compares, or rounds up or down, what it computes from quotients: Postgres cuts these to some 16 digits and "
    "this to 18 after "
    "the point, so that x / 3 * 3 = x may be told otherwise"
)
SPREADS = (
    "it takes the variance of {}: where that has more than 22 digits before the point it does not fit, "
    "and the view cannot be read"
)
TIES = (
    "its order leaves ties, and on these hangs what it takes or numbers ({}): of equal rows this goes by the key of "
    "their table, then by "
    "the whole row, and Postgres by the order it meets them in; a key in the ORDER BY settles it"
)
PARTS = {"range_bound", "composite_field", "era_of_date", "kept_number"}  # which are text as Postgres prints it
DIVISION = "it divides by {}: where that is zero Postgres fails and the view has NULL; with NULLIF(…, 0) both have NULL"

BEYOND_ZERO: dict[str, Callable[[float], bool]] = {
    "<>": lambda x: x == 0,
    ">": lambda x: x >= 0,
    ">=": lambda x: x > 0,
    "<": lambda x: x <= 0,
    "<=": lambda x: x < 0,
}
MATCHES = {"regexp_match", "regexp_substr", "regexp_whole", "regexp_replace", "regexp_split"}


def differences(bound: Relation) -> list[str]:
    """The warnings that a view deserves as it was bound, each once."""
    parts = list(every(bound))
    divisors = dict.fromkeys(d for r in parts for e in scalars(r) for d in _divisors(e))
    safe = _never_zero(parts)
    out = [DIVISION.format(_named(d)) for d in divisors if d not in safe]
    calls = [s for r in parts for e in scalars(r) for s in walk(e) if isinstance(s, Call)]
    compared = (
        (_part_of_json, JSON_PARTS),
        (_made, MADE),
        (lambda e: e.fn == "json_norm", JSON_KEYS),
        (_alternatives, ALTERNATIVES),
        (_sign_of_zero, SIGNS),
        (lambda e: e.fn == "at_zone" and not isinstance(e.args[1], Lit), ZONES),
    )
    read = [READ.format(e.type) for e in calls if _read(e)]
    spelled = [INTERVAL_KEYS] if any(isinstance(r, Aggregate) and _by_interval(r) for r in parts) else []
    sums = [
        f
        for r in parts
        if isinstance(r, Aggregate | Window)
        for _, f in (r.aggs if isinstance(r, Aggregate) else r.calls)
    ]
    computed = any(map(_with_quotients, calls)) or any(
        f.fn in ("sum", "avg") and _quotient(f.args[0].type) for f in sums
    )
    spelled += [QUOTIENTS] if computed and any(map(_decides, calls)) else []
    spelled += [
        SPREADS.format(f.args[0].type) for f in sums if f.fn in ("var_pop", "var_samp") and f.args[0].type == types.INT8
    ][:1]
    spelled += [REALS] if any(f.fn == "sum" and f.type.name == "float4" for f in sums) else []
    return list(dict.fromkeys(out + read)) + [text for test, text in compared if any(map(test, calls))] + spelled


def _by_interval(r: Aggregate) -> bool:
    shown = [e.type for _, e in r.keys] + [a.type for _, a in r.aggs if a.fn in ("min", "max")]
    return any(types.innermost(t).name == "interval" for t in shown)


def _sign_of_zero(e: Call) -> bool:
    shows = types.is_string(e.type) or e.type.name in ("json", "jsonb")
    return shows and any(types.is_float(a.type.element or a.type) for a in e.args)


def _read(e: Call) -> bool:
    apart = e.type.name in ("time", "timestamp", "timestamptz", "bytea", "array")
    source = e.args[0] if e.fn == "cast" else None
    if source is None or isinstance(source, Lit) or isinstance(source, Call) and source.fn in PARTS:
        return False
    return apart and types.is_string(source.type)


def _made(e: Call) -> bool:
    from_text = e.fn == "cast" and (types.is_string(e.args[0].type) or e.args[0].type.name == "json")
    return from_text and e.type.name == "jsonb" and not isinstance(e.args[0], Lit)


def _with_quotients(e: Call) -> bool:
    return e.fn in ("+", "-", "*") and any(_quotient(a.type) for a in e.args)


def _decides(e: Call) -> bool:
    """Whether the last digits of a number with those of a quotient may decide."""
    return (e.fn in BEYOND_ZERO or e.fn in ("=", "ceil", "floor", "trunc", "in")) and any(
        _quotient(x.type) for a in e.args for x in walk(a)
    )


def _quotient(t: types.Type) -> bool:
    return types.is_numeric(t) and (t.scale or 0) >= types.QUOTIENT_SCALE


def _alternatives(e: Call) -> bool:
    """Whether what a pattern matches, not whether it matches, is asked for, and the pattern has alternatives."""
    return e.fn in MATCHES and any(
        isinstance(a, Lit) and isinstance(a.value, str) and "|" in a.value for a in e.args[1:]
    )


def _part_of_json(e: Call) -> bool:
    return e.fn in ("json_get", "json_text", "json_step") and e.args[0].type.name == "json"


def _divisors(e: Scalar) -> Iterator[Scalar]:
    """What is divided by, but for constants and whatever a CASE (as NULLIF is) may guard."""
    if not isinstance(e, Call) or e.fn == "case":
        return
    if e.fn in ("/", "%", "quotient_text") and len(e.args) == 2:
        d = e.args[1]
        while isinstance(d, Call) and d.fn == "cast":
            d = d.args[0]
        if not isinstance(d, Lit) and not (isinstance(d, Call) and d.fn in ("case", "greatest")):
            yield d
    for a in e.args:
        yield from _divisors(a)


def _never_zero(every: list[Relation]) -> set[Scalar]:
    """Counts of the rows of a group, and columns that a filter keeps from zero."""
    out: set[Scalar] = set()
    for r in every:
        if isinstance(r, Aggregate) and r.keys:
            out |= {Col(n, a.type) for n, a in r.aggs if a.fn == "count" and not a.args and a.filter is None}
        for p in conjuncts(r.predicate) if isinstance(r, Filter) else ():
            if (
                isinstance(p, Call)
                and p.fn in BEYOND_ZERO
                and isinstance(p.args[1], Lit)
                and types.is_number(p.args[1].type)
                and p.args[1].value is not None
                and BEYOND_ZERO[p.fn](float(str(p.args[1].value)))
            ):
                d = p.args[0]
                out.add(d.args[0] if isinstance(d, Call) and d.fn == "cast" else d)
    return out


def _named(d: Scalar) -> str:
    return d.name if isinstance(d, Col) else "an expression"
