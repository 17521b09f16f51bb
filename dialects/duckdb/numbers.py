"""Arithmetic, rounding and the functions of numbers."""

from __future__ import annotations

from sqlglot import exp

from compiler.ir import types
from compiler.ir.rounds import ROUNDS
from compiler.ir.scalar import Call, Lit, Scalar
from dialects.arithmetic import in_two_parts, quotient_text
from dialects.dialect import Dialect, Emit, cast_to_type, extreme, tree


def _divide(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """Integer division truncates; numeric is exact to the scale of its type, by one correction of the double
    quotient."""
    if types.is_integer(e.type):
        return d.cast(tree(d, "$1 // $2", *a), e.type)
    if e.type.name == "interval":
        return tree(d, "pg.interval_over($1, CAST($2 AS DOUBLE))", *a)
    if types.is_float(e.type):
        return tree(d, "$1 / NULLIF($2, 0)", *a)
    whole = [
        d.cast(x, types.as_numeric(y.type)) if types.is_integer(y.type) else x for x, y in zip(a, e.args, strict=True)
    ]
    macro = "divide" if types.digits(e.args[1].type)[1] <= 8 else "divide_deep"
    return d.cast(tree(d, f"pg.{macro}($1, $2)", *whole), e.type)


def _modulo(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    if e.type.name in ("int2", "int4"):  # the smallest number has no opposite: -32768 % -1 overflows
        a = [d.cast(x, types.INT8) for x in a]
        return d.cast(tree(d, "$1 % NULLIF($2, 0)", *a), e.type)
    return tree(d, "$1 % NULLIF($2, 0)", *a)


def _plus(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    op = "+" if e.fn == "+" else "-"
    x, y = e.args[0].type, e.args[1].type
    if x.name == "date" and y.name == "date":
        return d.cast(tree(d, "$1 - $2", *a), types.INT4)
    if x.name == "date" and types.is_integer(y):
        return d.cast(tree(d, f"$1 {op} CAST($2 AS INTEGER)", *a), types.DATE)
    if x.name == "timestamptz" and y.name == "interval":
        return tree(d, f"($1 AT TIME ZONE 'UTC' {op} $2) AT TIME ZONE 'UTC'", *a)
    if x.name == "timestamp" and y.name == "time":
        return tree(d, f"$1 {op} TO_MICROSECONDS(EPOCH_US($2))", *a)
    if x.name in ("timestamp", "timestamptz") and y.name == x.name:
        return tree(d, "pg.between($1, $2)", *a)
    if x.name == "time" and y.name == "time":
        return tree(d, "TO_MICROSECONDS(EPOCH_US($1) - EPOCH_US($2))", *a)
    if types.is_float(e.type) and e.type.name == "float4":
        return d.cast(tree(d, f"$1 {op} $2", *a), e.type)
    return tree(d, f"$1 {op} $2", *widened(d, e, a))


def _times(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    if e.type.name == "interval":
        return tree(d, "pg.interval_times($1, CAST($2 AS DOUBLE))", *a)
    if types.is_numeric(e.type):
        p = [as_decimal(d, x, y) for x, y in zip(a, e.args, strict=True)]
        (w1, s1), (w2, s2) = (types.digits(y.type) for y in e.args)
        if s1 + s2 > (e.type.scale or 0):
            return exp.Paren(this=in_two_parts(d, "pg.times", p, s1, s2))
        if w1 + s1 <= 18 and w2 + s2 <= 18 < w1 + s1 + w2 + s2:  # DuckDB gives such products 18 digits
            p[0] = d.cast(p[0], types.numeric(19, s1))
        return tree(d, "$1 * $2", *p)
    return tree(d, "$1 * $2", *widened(d, e, a))


def widened(d: Dialect, e: Call, a: list[exp.Expr]) -> list[exp.Expr]:
    """Operands narrower than the result are cast to it: DuckDB computes SMALLINT with a small constant in 2 bytes."""
    if not types.is_integer(e.type):
        return a
    return [
        d.cast(x, e.type) if types.is_integer(y.type) and y.type != e.type else x
        for x, y in zip(a, e.args, strict=True)
    ]


def as_decimal(d: Dialect, x: exp.Expr, e) -> exp.Expr:  # type: ignore[no-untyped-def]
    """Integers beyond 4 bytes are made decimals before they meet one, so that products do not overflow."""
    return d.cast(x, types.as_numeric(e.type)) if e.type.name == "int8" else x


def _round(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    if types.is_float(e.args[0].type):
        return tree(d, "ROUND_EVEN($1, 0)", a[0])
    return d.cast(tree(d, "ROUND($1, $2)", *a) if len(a) > 1 else tree(d, "ROUND($1, 0)", *a), e.type)


def _trunc(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    if types.is_float(e.args[0].type):
        return tree(d, "TRUNC($1)", a[0])
    if len(a) == 1:
        return d.cast(tree(d, "TRUNC($1)", *a), e.type)
    return d.cast(tree(d, "$1 - $1 % $2", a[0], unit(e.args[1])), e.type)


def unit(digits: Scalar) -> exp.Expr:
    """What the last of so many digits after the point counts."""
    n = int(str(digits.value))  # type: ignore[attr-defined]
    return exp.Literal.number(f"0.{'0' * (n - 1)}1" if n > 0 else "1" + "0" * -n)


def _shift_left(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """Bits beyond the type's width are lost."""
    return d.cast(tree(d, f"pg.shift_left($1, $2, {types.WIDTHS[e.type.name]})", *a), e.type)


def _shift_right(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """By the number's last five bits, of a bigint six; smaller integers are shifted as integers."""
    if (
        isinstance(n := e.args[1], Lit)
        and isinstance(n.value, int | str)
        and 0 <= int(n.value) < types.WIDTHS[e.type.name]
    ):
        return tree(d, "$1 >> $2", *a)
    if e.type.name == "int8":
        return tree(d, "$1 >> ($2 & 63)", *a)
    return d.cast(tree(d, "CAST($1 AS INTEGER) >> ($2 & 31)", *a), e.type)


def _many(name: str) -> Emit:
    return lambda d, e, a: exp.Anonymous(this=name, expressions=a)


FUNCTIONS: dict[str, str | Emit] = {
    "next_round": f"CASE WHEN $1 < {ROUNDS} THEN $1 + 1 ELSE ERROR('the recursion has not ended after {ROUNDS} "
    f"rounds') END",
    "/": _divide,
    "%": _modulo,
    "+": _plus,
    "-": _plus,
    "*": _times,
    "round": _round,
    "trunc": _trunc,
    "quotient_text": quotient_text("pg.quotient_text"),
    "average_text": quotient_text("pg.quotient_text"),
    "float_digits": "pg.float_digits($1)",
    "float_digits:float4": "pg.real_digits($1)",
    "abs": cast_to_type("ABS($1)"),
    "sign": cast_to_type("SIGN($1)"),
    "floor": cast_to_type("FLOOR($1)"),
    "ceil": cast_to_type("CEIL($1)"),
    "power": "POW($1, $2)",
    "logb": "LN($2) / LN($1)",
    "atan2": "ATAN2($1, $2)",
    "pi": "PI()",
    **{
        f: f"{f.upper()}($1)"
        for f in (
            "sqrt",
            "cbrt",
            "exp",
            "ln",
            "log10",
            "sin",
            "cos",
            "tan",
            "cot",
            "asin",
            "acos",
            "atan",
            "sinh",
            "cosh",
            "tanh",
            "asinh",
            "acosh",
            "atanh",
            "degrees",
            "radians",
        )
    },
    "gcd": cast_to_type("GCD($1, $2)"),
    "lcm": cast_to_type("LCM($1, $2)"),
    "to_hex": "LOWER(TO_HEX($1))",
    "greatest": _many("greatest"),
    "least": _many("least"),
    "greatest:interval": extreme(">", "pg.span($1)"),
    "least:interval": extreme("<", "pg.span($1)"),
    "bit_and": "$1 & $2",
    "bit_or": "$1 | $2",
    "bit_xor": "XOR($1, $2)",
    "shift_left": _shift_left,
    "shift_right": _shift_right,
}
