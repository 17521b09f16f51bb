"""Arithmetic, rounding and the functions of numbers."""

from __future__ import annotations

from sqlglot import exp

from compiler.ir import types
from compiler.ir.scalar import Call, Scalar
from compiler.ir.types import Type
from dialects.arithmetic import in_two_parts, quotient_text
from dialects.dialect import Dialect, Emit, cast_to_type, extreme, tree
from dialects.spark.common import fn


def _divide(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    if e.type.name == "interval":
        return tree(d, "pg_interval_over($1, CAST($2 AS DOUBLE))", *a)
    if types.is_integer(e.type):
        return d.cast(tree(d, "$1 DIV NULLIF($2, 0)", *a), e.type)
    if types.is_float(e.type):
        out = tree(d, "$1 / NULLIF($2, 0)", *a)
        return d.cast(out, e.type) if e.type.name == "float4" else out
    return d.cast(quotient(d, a[0], a[1], e.args[0].type, e.args[1].type), e.type)


def quotient(d: Dialect, a: exp.Expr, b: exp.Expr, ta: Type, tb: Type) -> exp.Expr:
    """To some digits from doubles, then the remainder exactly: right to 18 digits. Fewer where the divisor has many
    after the point."""
    first = 8 if types.digits(tb)[1] <= 8 else 2
    x = d.cast(a, types.as_numeric(ta)) if types.is_integer(ta) else a
    y = d.cast(b, types.as_numeric(tb)) if types.is_integer(tb) else b
    q = tree(d, f"CAST(CAST($1 AS DOUBLE) / NULLIF(CAST($2 AS DOUBLE), 0) AS DECIMAL(38,{first}))", x, y)
    return exp.Paren(
        this=tree(
            d,
            "CAST($3 AS DECIMAL(38,18)) + CAST(CAST($1 - $3 * $2 AS DOUBLE) / NULLIF(CAST($2 AS DOUBLE), 0) AS "
            "DECIMAL(38,18))",
            x,
            y,
            q,
        )
    )


def _modulo(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return tree(d, "$1 % NULLIF($2, 0)", *a)


def _times(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    if e.type.name == "interval":
        macro = "pg_interval_times_whole" if types.is_integer(e.args[1].type) else "pg_interval_times"
        return tree(d, f"{macro}($1, $2)", *a)
    if types.is_numeric(e.type):
        s1, s2 = (types.digits(y.type)[1] for y in e.args)
        if s1 + s2 > (e.type.scale or 0):
            return exp.Paren(this=in_two_parts(d, "pg_times", a, s1, s2))
    return tree(d, "$1 * $2", *a)


def _round(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    if types.is_float(e.args[0].type):
        return exp.Anonymous(this="rint", expressions=[a[0]])
    n = a[1] if len(a) > 1 else exp.Literal.number(0)
    return d.cast(exp.Anonymous(this="round", expressions=[a[0], n]), e.type)


def _trunc(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    if types.is_float(e.args[0].type):
        return tree(d, "pg_trunc($1)", a[0])
    if len(a) == 1:
        return d.cast(tree(d, "CASE WHEN $1 < 0 THEN CEIL($1) ELSE FLOOR($1) END", a[0]), e.type)
    return d.cast(tree(d, "$1 - $1 % $2", a[0], unit(e.args[1])), e.type)


def unit(digits: Scalar) -> exp.Expr:
    """What the last of so many digits after the point counts."""
    n = int(str(digits.value))  # type: ignore[attr-defined]
    return exp.Literal.number(f"0.{'0' * (n - 1)}1" if n > 0 else "1" + "0" * -n)


def _whole(name: str) -> Emit:
    """FLOOR and CEIL of doubles stay doubles: Spark's are BIGINT, which not every double fits."""

    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        if types.is_float(e.args[0].type):
            return tree(d, f"pg_{name}($1)", a[0])
        return d.cast(exp.Anonymous(this=name, expressions=a), e.type)

    return emit


def _shift_left(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """Bits beyond the type's width are lost."""
    if e.type.name == "int2":
        return tree(d, "CAST(((SHIFTLEFT(CAST($1 AS INT), $2) & 65535) ^ 32768) - 32768 AS SMALLINT)", *a)
    return d.cast(exp.Anonymous(this="shiftleft", expressions=a), e.type)


FUNCTIONS: dict[str, str | Emit] = {
    "/": _divide,
    "%": _modulo,
    "*": _times,
    "round": _round,
    "trunc": _trunc,
    "neg:interval": "pg_interval_times_whole($1, -1)",
    "quotient_text": quotient_text("pg_quotient_text"),
    "average_text": quotient_text("pg_quotient_text"),
    "float_digits": "pg_float_digits($1)",
    "float_digits:float4": "pg_real_digits($1)",
    "abs": cast_to_type("ABS($1)"),
    "sign": cast_to_type("SIGN($1)"),
    "sign:float8": "CASE WHEN ISNAN($1) THEN 0 ELSE SIGN($1) END",
    "floor": _whole("floor"),
    "ceil": _whole("ceil"),
    "power": fn("power"),
    "logb": "LN($2) / LN($1)",
    "atan2": fn("atan2"),
    "pi": fn("pi"),
    **{
        f: fn(f)
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
    "gcd": cast_to_type("pg_gcd($1, $2)"),
    "lcm": cast_to_type("pg_lcm($1, $2)"),
    "to_hex": "LOWER(HEX($1))",
    "greatest": fn("greatest"),
    "least": fn("least"),
    "greatest:interval": extreme(">", "pg_length($1)"),
    "least:interval": extreme("<", "pg_length($1)"),
    "bit_and": "$1 & $2",
    "bit_or": "$1 | $2",
    "bit_xor": "$1 ^ $2",
    "shift_left": _shift_left,
    "shift_right": fn("shiftright"),
}
