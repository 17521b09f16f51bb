"""Numbers: rounding, powers, logarithms, trigonometry."""

from __future__ import annotations

from dataclasses import replace

from compiler.bind.coerce import coerce, constant_int, unify, unsupported, untyped_number
from compiler.bind.functions.rules import Rule, same_number
from compiler.bind.operators import binary, compare
from compiler.ir import types
from compiler.ir.scalar import Call, Lit, Scalar, case, cast
from compiler.ir.types import FLOAT8, INT4, INT8


def _round(fn: str) -> Rule:
    def rule(args: list[Scalar]) -> Scalar:
        a = coerce(args[0], FLOAT8)
        if len(args) == 1:
            if types.is_float(a.type):
                return Call(fn, (a,), FLOAT8)
            if types.is_integer(a.type):
                return cast(a, FLOAT8)
            return Call(fn, (a,), types.numeric(types.digits(a.type)[0] + 1, 0))
        a = cast(untyped_number(args[0]), types.as_numeric(a.type)) if not types.is_numeric(a.type) else a
        whole, scale = types.digits(a.type)
        n = constant_int(args[1])
        if n is None:
            return _by_digits(fn, a, args[1])
        if n >= scale:
            return cast(a, types.numeric(min(whole + n, 38), min(n, types.QUOTIENT_SCALE)))
        return Call(fn, (a, Lit(n, INT4)), types.numeric(whole + 1 + max(n, 0), max(n, 0)))

    return rule


def _by_digits(fn: str, a: Scalar, n: Scalar) -> Scalar:
    """Rounding to a number of digits that differs from row to row: one branch a number."""
    whole, scale = types.digits(a.type)
    t = types.numeric(whole + 1 + scale, scale)
    zero = cast(Lit("0", types.numeric(1, 0)), t)
    branches = [(compare(">=", n, Lit(scale, INT4)), cast(a, t)), (compare("<", n, Lit(-whole, INT4)), zero)]
    branches += [
        (
            compare("=", n, Lit(k, INT4)),
            cast(Call(fn, (a, Lit(k, INT4)), types.numeric(whole + 1 + max(k, 0), max(k, 0))), t),
        )
        for k in range(-whole, scale)
    ]
    return case(branches, Lit(None, t), t)


def _floor(fn: str) -> Rule:
    def rule(args: list[Scalar]) -> Scalar:
        a = coerce(args[0], FLOAT8)
        if types.is_integer(a.type):
            return cast(a, FLOAT8)
        if types.is_float(a.type):
            return Call(fn, (cast(a, FLOAT8),), FLOAT8)
        return Call(fn, (a,), types.numeric(types.digits(a.type)[0] + 1, 0))

    return rule


def _float(fn: str) -> Rule:
    """Functions that Postgres has for double precision alone."""
    return lambda args: Call(fn, tuple(cast(a, FLOAT8) for a in args), FLOAT8)


def _float_or_numeric(fn: str) -> Rule:
    """Computed in double precision; numeric for numeric arguments."""

    def rule(args: list[Scalar]) -> Scalar:
        exact = any(types.is_numeric(a.type) for a in args) and not any(types.is_float(a.type) for a in args)
        got = Call(fn, tuple(cast(a, FLOAT8) for a in args), FLOAT8)
        return cast(got, types.numeric(38, 16)) if exact else got

    return rule


def power(args: list[Scalar]) -> Scalar:
    """A small whole power of a numeric is the product to 16 digits after the point. How many of them Postgres shows
    differs by version."""
    base, n = args[0], constant_int(args[1])
    if types.is_numeric(base.type) and n in (2, 3):
        got = binary("*", base, base)
        got = got if n == 2 else binary("*", got, base)
        if isinstance(got, Call) and (got.type.scale or 0) <= 16:
            return replace(got, type=types.varying(got.type))
        return cast(got, types.numeric(38, 16))
    return _float_or_numeric("power")(args)


def _log(args: list[Scalar]) -> Scalar:
    if len(args) == 1:
        return _float_or_numeric("log10")(args)
    return cast(Call("logb", tuple(cast(a, FLOAT8) for a in args), FLOAT8), types.numeric(38, 16))


def _div(args: list[Scalar]) -> Scalar:
    q = binary("/", cast(args[0], types.as_numeric(args[0].type)), cast(args[1], types.as_numeric(args[1].type)))
    return Call("trunc", (q,), types.numeric(38, 0))


def _whole(fn: str) -> Rule:
    """gcd and lcm, of integers."""

    def rule(args: list[Scalar]) -> Scalar:
        got, t = unify(args, fn)
        if not types.is_integer(t):
            raise unsupported(f"{fn} of {t}")
        return Call(fn, tuple(got), t)

    return rule


def _sign(args: list[Scalar]) -> Scalar:
    x = coerce(args[0], FLOAT8)
    return Call("sign", (x,), types.numeric(1, 0) if types.is_numeric(x.type) else FLOAT8)


def _width_bucket(args: list[Scalar]) -> Scalar:
    """The number of the bucket, 0 below the first and n + 1 beyond the last; the bounds may fall as well as rise."""
    if len(args) == 2:
        return _bucket_of(args[0], args[1])
    x, low, high, n = args
    (x, low, high), t = unify([x, low, high], "width_bucket")
    if not types.is_float(t):
        x, low, high = (cast(a, types.as_numeric(a.type)) for a in (x, low, high))

    def place(a: Scalar, b: Scalar) -> Scalar:
        share = binary("/", binary("*", binary("-", a, low), n), binary("-", b, low))
        if a is low:
            share = binary("/", binary("*", binary("-", low, x), n), binary("-", low, high))
        floor = _floor("floor")([share])
        return binary("+", cast(floor, INT4), Lit(1, INT4))

    after = binary("+", n, Lit(1, INT4))
    rising, zero = compare("<", low, high), Lit(0, INT4)
    whens = [
        (Call("and", (rising, compare("<", x, low)), types.BOOL), zero),
        (Call("and", (rising, compare(">=", x, high)), types.BOOL), after),
        (rising, place(x, high)),
        (compare(">", x, low), zero),
        (compare("<=", x, high), after),
    ]
    null = Call("is_null", (binary("+", binary("+", x, low), high),), types.BOOL)
    return case([(null, Lit(None, INT4)), *whens], place(low, high), INT4)


def _bucket_of(x: Scalar, bounds: Scalar) -> Scalar:
    """The number of bounds at or below x, of a list written in the view."""
    if not isinstance(bounds, Call) or bounds.fn != "array":
        raise unsupported("width_bucket of an array column")
    x = coerce(x, bounds.type.element or types.TEXT)
    whens = [(compare(">=", x, b), Lit(i + 1, INT4)) for i, b in reversed(list(enumerate(bounds.args)))]
    return case([(Call("is_null", (x,), types.BOOL), Lit(None, INT4)), *whens], Lit(0, INT4), INT4)


def _scale(args: list[Scalar]) -> Scalar:
    t = args[0].type
    if (
        not types.is_exact(t)
        or types.is_varying(t)
        or types.is_numeric(t)
        and (t == types.numeric() or (t.scale or 0) >= types.QUOTIENT_SCALE - 2)
    ):
        raise unsupported("scale", "The scale of this value depends on how it was written.")
    return case([(Call("is_null", (args[0],), types.BOOL), Lit(None, INT4))], Lit(types.digits(t)[1], INT4), INT4)


def _to_hex(args: list[Scalar]) -> Scalar:
    """A negative number as its two's complement."""
    a = coerce(args[0], INT4)
    if a.type.name == "int8":
        return Call("to_hex", (a,), types.TEXT)
    wide = cast(a, INT8)
    shifted = case([(compare("<", a, Lit(0, INT4)), binary("+", wide, Lit(2**32, INT8)))], wide, INT8)
    return Call("to_hex", (shifted,), types.TEXT)


RULES: dict[str, Rule] = {
    "abs": same_number("abs"),
    "sign": _sign,
    "round": _round("round"),
    "trunc": _round("trunc"),
    "floor": _floor("floor"),
    "ceil": _floor("ceil"),
    "ceiling": _floor("ceil"),
    "mod": lambda a: binary("%", a[0], a[1]),
    "div": _div,
    "power": power,
    "pow": power,
    "sqrt": _float_or_numeric("sqrt"),
    "exp": _float_or_numeric("exp"),
    "ln": _float_or_numeric("ln"),
    "log": _log,
    "log10": _float_or_numeric("log10"),
    "gcd": _whole("gcd"),
    "lcm": _whole("lcm"),
    **{
        f: _float(f)
        for f in (
            "cbrt",
            "sin",
            "cos",
            "tan",
            "cot",
            "asin",
            "acos",
            "atan",
            "atan2",
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
    "width_bucket": _width_bucket,
    "scale": _scale,
    "to_hex": _to_hex,
}
