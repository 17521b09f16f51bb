"""A call of a function ends in an expression of known types or in a reason, whatever its arguments are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from compiler.bind import aggregates, sets
from compiler.bind.functions import bind_function
from compiler.bind.windows import WINDOW_ONLY
from compiler.errors import TidemarkError
from compiler.functions.aggregates import AGGREGATES
from compiler.functions.signatures import Signature, coerces, signatures, volatile
from compiler.ir import types
from compiler.ir.relation import Order
from compiler.ir.scalar import Call, Col, Lit, Scalar, walk
from compiler.ir.types import BOOL, INT4, INT8, TEXT, UNKNOWN, Type

PLAIN = (
    *(types.INT2, INT4, INT8, types.FLOAT4, types.FLOAT8, types.numeric(12, 2), types.numeric()),
    *(TEXT, Type("varchar", 5), Type("bpchar", 4), types.BLANKS, types.BYTEA, types.UUID, BOOL),
    *(types.DATE, types.TIME, types.TIMESTAMP, types.TIMESTAMPTZ, types.INTERVAL, types.JSON, types.JSONB),
    Type("enum", labels=("sad", "ok"), title="mood"),
    Type("opaque", labels=("inet",)),
)
ELEMENTS = ("int4", "numeric", "text", "bpchar", "date", "jsonb", "enum")
COLUMNS: list[Scalar] = [
    Col(f"c{i}", t) for i, t in enumerate((*PLAIN, *(types.array(t) for t in PLAIN if t.name in ELEMENTS)))
]
STRINGS = (
    *("", "x", "1", "-5", "1e400", "99999999999999999999", "NaN", "infinity", "2026-01-01", "epoch", "hour", "iyyy"),
    *("{1,2}", "{", '{"a": 1}', "([", "(a)|b", "g", "UTF8", "hex", "YYYY-MM-DD", "999.99", "%s %9$s", "UTC"),
)
CONSTANTS: list[Scalar] = [
    Lit(None, UNKNOWN),
    Lit(None, TEXT),
    Lit(None, types.array(INT4)),
    *(Lit(x, UNKNOWN) for x in STRINGS),
    *(Lit(n, INT4) for n in (0, 1, -1, 99, 2**31 - 1)),
    Lit(2**31, INT8),
    Lit("1.5", types.numeric(2, 1)),
    Call("neg", (Lit("1.5", types.numeric(2, 1)),), types.numeric(2, 1)),
    Lit("1e400", types.FLOAT8),
    Lit(True, BOOL),
    Call("array", (Lit(1, INT4), Lit(None, INT4)), types.array(INT4)),
    Call("array", (Lit("a", TEXT),), types.array(TEXT)),
]


COUNTS = ("num_nulls", "num_nonnulls")  # of what type a NULL is does not matter to them


def column(wanted: str) -> Scalar:
    return next((c for c in COLUMNS if coerces(c.type, wanted) and c.type.name != "opaque"), Lit(None, UNKNOWN))


def constant(wanted: str) -> Scalar:
    return Lit("1", UNKNOWN)


def calls(s: Signature) -> Iterator[list[Scalar]]:
    """In each place every kind of argument, beside columns that fit and beside constants."""
    wanted = [a.removeprefix("_") if s.variadic else a for a in s.arguments]
    for size in range(len(wanted) - s.defaults, len(wanted) + 2):
        places = [wanted[min(i, len(wanted) - 1)] for i in range(size)] if wanted else []
        for beside in (column, constant):
            for i in range(len(places)):
                for a in (*COLUMNS, *CONSTANTS):
                    yield [*map(beside, places[:i]), a, *map(beside, places[i + 1 :])]
        yield [Lit(None, UNKNOWN)] * size


def call(name: str, args: list[Scalar]) -> tuple[Scalar, ...]:
    """What there is of expressions in what the call is bound to."""
    if name in sets.NAMES:
        return sets.set_function(name, args, [("x", INT4)]).args
    if name not in AGGREGATES:
        return (bind_function(name, args),)
    if not AGGREGATES[name].within:
        return aggregates.build(name, args, None, False, ()).args
    return aggregates.build(name, args[:-1], None, False, tuple(Order(a, False, False) for a in args[-1:])).args


@pytest.mark.parametrize("name", sorted(n for n in signatures() if n not in WINDOW_ONLY and not volatile(n)))
def test_it_is_an_expression_or_refused(name: str) -> None:
    for s in signatures()[name]:
        for args in calls(s):
            try:
                got = call(name, args)
            except TidemarkError:
                continue
            except Exception as e:
                raise AssertionError(f"{name}({', '.join(map(str, args))})") from e
            assert name in COUNTS or all(n.type != UNKNOWN for x in got for n in walk(x)), (name, args)
