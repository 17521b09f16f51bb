"""Aggregates, a row each: what they take and give, and the algebra by which they are maintained.

To add one is a row here, its accumulators where it has some (`maintain/strategy/accumulators`), and a spelling in each
dialect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from compiler.ir import types
from compiler.ir.evaluate import SIGNED_SAFE
from compiler.ir.relation import Agg
from compiler.ir.types import FLOAT8, INT8, JSON, JSONB, TEXT, Type

ROUNDED = 12  # digits after the point up to which sums of exact numbers are exact in 38 digits
SQUARED = 9  # and sums of their squares


class Algebra(Enum):
    """What an aggregate of R + Δ can be had from, besides that of R."""

    GROUP = "sums: what arrives is added, what leaves is taken away"
    SEMILATTICE = "an extremum: what arrives is combined; where the extremum leaves, it is looked for again"
    HOLISTIC = "none: the rows of the group are read again"


@dataclass(frozen=True)
class AggregateFunction:
    """A row.

    `name` is Postgres', `core` the one it has in the IR. It takes at least `arguments`, and gives `result` of the type
    of the first (of bigint where it has none). `scale`: exact numbers of so many digits after the point can be added
    up; None: whatever it takes. `idempotent`: DISTINCT changes nothing. `counts`: of no rows it is 0, not NULL.
    `ordered`: the order of rows shows in it.
    """

    name: str
    core: str
    algebra: Algebra
    arguments: int
    result: Callable[[Type], Type]
    scale: int | None = None
    idempotent: bool = False
    counts: bool = False
    ordered: bool = False
    within: bool = False  # WITHIN GROUP says what is aggregated


def _always(t: Type) -> Callable[[Type], Type]:
    return lambda _: t


def _itself(t: Type) -> Type:
    return t


def _average(t: Type) -> Type:
    if types.is_float(t):
        return FLOAT8
    return t if t.name == "interval" else types.numeric(38, types.QUOTIENT_SCALE)


def _statistic(t: Type) -> Type:
    return FLOAT8 if types.is_float(t) else types.numeric(38, 16)


def _rows() -> list[AggregateFunction]:
    group, extremum, none = Algebra.GROUP, Algebra.SEMILATTICE, Algebra.HOLISTIC
    row = AggregateFunction
    pairs = ("corr", "covar_pop", "covar_samp", "regr_avgx", "regr_avgy", "regr_intercept", "regr_r2", "regr_slope")
    return [
        row("count", "count", group, 0, _always(INT8), counts=True),
        row("sum", "sum", group, 1, types.sum_type, scale=ROUNDED),
        row("avg", "avg", group, 1, _average, scale=ROUNDED),
        row("min", "min", extremum, 1, _itself, idempotent=True),
        row("max", "max", extremum, 1, _itself, idempotent=True),
        row("bool_and", "bool_and", group, 1, _itself, idempotent=True),
        row("bool_or", "bool_or", group, 1, _itself, idempotent=True),
        row("every", "bool_and", group, 1, _itself, idempotent=True),
        row("bit_and", "bit_and", group, 1, _itself, scale=0, idempotent=True),
        row("bit_or", "bit_or", group, 1, _itself, scale=0, idempotent=True),
        row("bit_xor", "bit_xor", group, 1, _itself, scale=0),
        *(
            row(name, core, group, 1, _statistic, scale=SQUARED)
            for name, core in (
                ("stddev", "stddev_samp"),
                ("stddev_samp", "stddev_samp"),
                ("stddev_pop", "stddev_pop"),
                ("variance", "var_samp"),
                ("var_samp", "var_samp"),
                ("var_pop", "var_pop"),
            )
        ),
        *(
            row(name, name, group, 2, _always(FLOAT8), scale=SQUARED)
            for name in (*pairs, "regr_sxx", "regr_sxy", "regr_syy")
        ),
        row("regr_count", "regr_count", group, 2, _always(INT8), scale=SQUARED, counts=True),
        row("any_value", "any_value", none, 1, _itself),
        row("string_agg", "string_agg", none, 2, _always(TEXT), ordered=True),
        row("array_agg", "array_agg", none, 1, types.array, ordered=True),
        row("json_agg", "string_agg", none, 1, _always(JSON), ordered=True),
        row("jsonb_agg", "string_agg", none, 1, _always(JSONB), ordered=True),
        row("json_object_agg", "string_agg", none, 2, _always(JSON), ordered=True),
        row("jsonb_object_agg", "array_agg", none, 2, _always(JSONB), ordered=True),
        row("range_agg", "array_agg", none, 1, types.array),
        row("range_intersect_agg", "array_agg", none, 1, types.array),
        row("percentile_cont", "percentile_cont", none, 1, _always(FLOAT8), within=True),
        row("percentile_disc", "percentile_disc", none, 1, _itself, within=True),
        row("mode", "mode", none, 0, _itself, within=True),
    ]


AGGREGATES = {r.name: r for r in _rows()}
CORES = {r.core: r for r in AGGREGATES.values() if r.name == r.core}
ORDERED = frozenset(r.core for r in AGGREGATES.values() if r.ordered)
STATISTICS = frozenset(r.core for r in AGGREGATES.values() if r.scale == SQUARED and not r.counts)
TOTAL = "sum0"  # of the IR alone: the sum, 0 of nothing
EXTREMA = frozenset(r.core for r in AGGREGATES.values() if r.algebra is Algebra.SEMILATTICE)
ADDED = frozenset(("count", TOTAL))  # sums of weights, or of values times weights; 0 where all rows cancel
ACCUMULATORS = ADDED | EXTREMA  # what a state can hold, and others are made of
SIGNED = SIGNED_SAFE  # what rows of negative weight can take part in


def algebra_of(a: Agg) -> Algebra:
    """By what a call is maintained: DISTINCT, floating point and numbers of too many digits cannot be taken away."""
    if a.fn == TOTAL:
        return Algebra.GROUP
    row = CORES.get(a.fn)
    if row is None or a.distinct:
        return Algebra.HOLISTIC
    if row.algebra is Algebra.GROUP and row.scale is not None:
        whole = all(types.is_integer(x.type) for x in a.args)
        exact = all(types.is_exact(x.type) and types.digits(x.type)[1] <= row.scale for x in a.args)
        return Algebra.GROUP if (exact if row.scale else whole) else Algebra.HOLISTIC
    return row.algebra


def of_nothing(fn: str) -> int | None:
    """What an aggregate of the IR is of no rows: 0, or None for NULL."""
    return 0 if fn == TOTAL or fn in CORES and CORES[fn].counts else None


def by_distinct_values(fn: str) -> bool:
    """Whether DISTINCT of it is itself over rows that are made distinct first."""
    row = CORES.get(fn)
    return row is not None and row.algebra is Algebra.GROUP and not row.idempotent and row.arguments < 2
