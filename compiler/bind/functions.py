"""Functions a view may call: argument coercion and result types, as Postgres' catalog has them.

A rule takes bound arguments and gives the canonical call. A function that is not here is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable

from compiler.errors import InvalidSql, UnsupportedSql
from compiler.ir import types
from compiler.ir.scalar import Call, Lit, Scalar, call, case, cast, equal, null
from compiler.ir.types import BOOL, FLOAT8, INT4, INT8, TEXT, Type

Rule = Callable[[list[Scalar]], Scalar]

VOLATILE = {"random", "clock_timestamp", "timeofday", "nextval", "currval", "lastval", "setval", "gen_random_uuid",
            "uuid_generate_v4", "uuidv4", "uuidv7", "txid_current", "pg_current_xact_id",
            "pg_sleep", "setseed", "random_normal", "pg_backend_pid", "inet_client_addr", "current_setting",
            "set_config", "pg_current_wal_lsn"}


def coerce(e: Scalar, t: Type) -> Scalar:
    """Give an untyped literal a type; leave typed expressions alone."""
    return cast(e, t) if e.type.name == "unknown" else e


def _fixed(fn: str, result: Type, *params: Type) -> Rule:
    def rule(args: list[Scalar]) -> Scalar:
        return Call(fn, tuple(coerce(a, params[min(i, len(params) - 1)]) for i, a in enumerate(args)), result)

    return rule


def _text(fn: str, *params: Type) -> Rule:
    return _fixed(fn, TEXT, *(params or (TEXT,)))


def _same_number(fn: str) -> Rule:
    def rule(args: list[Scalar]) -> Scalar:
        a = coerce(args[0], FLOAT8)
        return Call(fn, (a, *args[1:]), a.type)

    return rule


def _round(fn: str) -> Rule:
    def rule(args: list[Scalar]) -> Scalar:
        a = coerce(args[0], FLOAT8)
        if len(args) == 1:
            if types.is_float(a.type):
                return Call(fn, (a,), FLOAT8)
            whole, scale = types.digits(a.type)
            if types.is_integer(a.type):
                return cast(a, FLOAT8)
            return Call(fn, (a,), types.numeric(whole + 1, 0))
        a = cast(a, types.as_numeric(a.type)) if types.is_integer(a.type) else a
        if types.is_float(a.type):
            raise InvalidSql(f"function {fn}(double precision, integer) does not exist", code="undefined_function",
                             hint=f"Cast the first argument to numeric: {fn}(x::numeric, n).")
        whole, scale = types.digits(a.type)
        n = _constant_int(args[1])
        if n is None:
            return Call(fn, (a, args[1]), types.numeric(whole + 1 + scale, scale))
        if n >= scale:
            out = types.numeric(min(whole + n, 38), min(n, types.QUOTIENT_SCALE))
            return cast(a, out)
        return Call(fn, (a, args[1]), types.numeric(whole + 1 + max(n, 0), max(n, 0)))

    return rule


def _constant_int(e: Scalar) -> int | None:
    if isinstance(e, Lit) and isinstance(e.value, int):
        return e.value
    if isinstance(e, Call) and e.fn == "neg" and isinstance(e.args[0], Lit):
        return -int(str(e.args[0].value))
    return None


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
    """Transcendental functions: computed in double precision, also for numeric arguments."""

    def rule(args: list[Scalar]) -> Scalar:
        exact = any(types.is_numeric(a.type) for a in args) and not any(types.is_float(a.type) for a in args)
        got = Call(fn, tuple(cast(a, FLOAT8) for a in args), FLOAT8)
        return cast(got, types.numeric(38, 16)) if exact else got

    return rule


def unify(args: list[Scalar], what: str) -> tuple[list[Scalar], Type]:
    t = types.common([a.type for a in args])
    if t is None:
        kinds = ", ".join(sorted({str(a.type) for a in args}))
        raise InvalidSql(f"{what} types {kinds} cannot be matched", code="datatype_mismatch")
    return [cast(a, t) for a in args], t


def _variadic(fn: str) -> Rule:
    def rule(args: list[Scalar]) -> Scalar:
        if fn != "coalesce" and any(a.type.name == "enum" for a in args):
            raise UnsupportedSql(f"{fn} of an enum is not supported", code="unsupported_function")
        got, t = unify(args, fn.upper())
        return got[0] if len(got) == 1 else Call(fn, tuple(got), t)

    return rule


def _nullif(args: list[Scalar]) -> Scalar:
    a, b = args
    left = coerce(a, b.type if b.type.name != "unknown" else TEXT)
    return case([(equal(left, coerce(b, left.type)), null(left.type))], left, left.type)


def _date_trunc(args: list[Scalar]) -> Scalar:
    if isinstance(args[0], Lit) and str(args[0].value).lower() in ("century", "millennium"):
        raise UnsupportedSql(f"date_trunc('{args[0].value}') is not supported", code="unsupported_function")
    a = coerce(args[1], types.TIMESTAMPTZ)
    t = types.TIMESTAMPTZ if a.type.name == "date" else a.type
    if not isinstance(args[0], Lit):
        raise UnsupportedSql("date_trunc with a unit that is not a constant", code="unsupported_function")
    zone = [coerce(z, TEXT) for z in args[2:]]
    a = cast(a, t)
    if zone:
        local = Call("at_zone", (a, zone[0]), types.TIMESTAMP)
        cut = Call("date_trunc", (coerce(args[0], TEXT), local), types.TIMESTAMP)
        return Call("at_zone", (cut, zone[0]), types.TIMESTAMPTZ)
    return Call("date_trunc", (coerce(args[0], TEXT), a), t)


def extract(field: str, e: Scalar, as_float: bool = False) -> Scalar:
    e = coerce(e, types.TIMESTAMP)
    field = field.lower()
    fields = {"years": "year", "months": "month", "days": "day", "hours": "hour", "minutes": "minute",
              "seconds": "second", "weeks": "week", "quarters": "quarter"}
    field = fields.get(field, field)
    allowed = {"year", "month", "day", "hour", "minute", "second", "week", "quarter", "dow", "isodow", "doy",
               "epoch", "millennium", "century", "decade", "isoyear", "milliseconds", "microseconds"}
    if field not in allowed:
        raise UnsupportedSql(f"extract({field}) is not supported", code="unsupported_function")
    if e.type.name not in ("date", "timestamp", "timestamptz", "time", "interval"):
        raise InvalidSql(f"extract({field}) from {e.type} does not exist", code="undefined_function")
    t = types.numeric(20, 6 if field in ("second", "epoch") else 3 if field == "milliseconds" else 0)
    got = Call("extract", (Lit(field, TEXT), e), t)
    return cast(got, FLOAT8) if as_float else got


def _date_part(args: list[Scalar]) -> Scalar:
    if not isinstance(args[0], Lit):
        raise UnsupportedSql("date_part with a field that is not a constant", code="unsupported_function")
    return extract(str(args[0].value), args[1], as_float=True)


def _concat(args: list[Scalar]) -> Scalar:
    return Call("concat", tuple(map(_printed, args)), TEXT)


def _concat_ws(args: list[Scalar]) -> Scalar:
    return Call("concat_ws", tuple(map(_printed, args)), TEXT)


def padded(e: Scalar) -> Scalar:
    """A char(n) with the blanks that LIKE and output see; other values as they are."""
    if e.type.name != "bpchar" or not e.type.precision:
        return e
    return Call("rpad", (Call("cast", (e,), TEXT), Lit(e.type.precision, INT4), Lit(" ", TEXT)), TEXT)


def _printed(a: Scalar) -> Scalar:
    """A value as its type's output function has it: a boolean is t or f."""
    a = padded(a)
    if a.type.name != "bool":
        return cast(a, TEXT)
    return case([(a, Lit("t", TEXT)), (Call("not", (a,), BOOL), Lit("f", TEXT))], Lit(None, TEXT), TEXT)


def _mod(args: list[Scalar]) -> Scalar:
    from compiler.bind.operators import binary

    return binary("%", args[0], args[1])


def _power(args: list[Scalar]) -> Scalar:
    return _float("power")(args)


def _div(args: list[Scalar]) -> Scalar:
    from compiler.bind.operators import binary

    q = binary("/", cast(args[0], types.as_numeric(args[0].type)), cast(args[1], types.as_numeric(args[1].type)))
    return Call("trunc", (q,), types.numeric(38, 0))


def _array_fn(fn: str, result: Type | None) -> Rule:
    def rule(args: list[Scalar]) -> Scalar:
        return Call(fn, tuple(args), result or args[0].type)

    return rule


def _array_element(fn: str) -> Rule:
    def rule(args: list[Scalar]) -> Scalar:
        a = next((x for x in args if x.type.name == "array"), args[0])
        element = a.type.element or TEXT
        return Call(fn, tuple(x if x is a else coerce(x, element) for x in args),
                    INT4 if fn == "array_position" else a.type)

    return rule


def _log(args: list[Scalar]) -> Scalar:
    return _float("log10" if len(args) == 1 else "logb")(args)


def _make(fn: str, t: Type) -> Rule:
    def rule(args: list[Scalar]) -> Scalar:
        return Call(fn, tuple(args), t)

    return rule


def _trim(fn: str) -> Rule:
    def rule(args: list[Scalar]) -> Scalar:
        return Call(fn, (coerce(args[0], TEXT), coerce(args[1], TEXT) if len(args) > 1 else Lit(" ", TEXT)), TEXT)

    return rule


def _pad(fn: str) -> Rule:
    def rule(args: list[Scalar]) -> Scalar:
        return Call(fn, (coerce(args[0], TEXT), args[1], coerce(args[2], TEXT) if len(args) > 2 else Lit(" ", TEXT)),
                    TEXT)

    return rule


def _age(args: list[Scalar]) -> Scalar:
    if len(args) == 1:
        raise UnsupportedSql("age(x) with one argument depends on the current date", code="stable_function",
                             hint="Use age(y, x) with both ends.")
    return Call("age", tuple(cast(coerce(a, types.TIMESTAMP), types.TIMESTAMP) for a in args), types.INTERVAL)


def _to_number_like(fn: str) -> Rule:
    def rule(args: list[Scalar]) -> Scalar:
        raise UnsupportedSql(f"function {fn}() is not supported", code="unsupported_function",
                             hint="Store the formatted value in a column of the source, or format when reading.")

    return rule


def _to_char(args: list[Scalar]) -> Scalar:
    if not isinstance(args[1], Lit) or args[0].type.name not in ("date", "timestamp", "timestamptz"):
        return _to_number_like("to_char")(args)
    return Call("to_char", (cast(args[0], types.TIMESTAMP), coerce(args[1], TEXT)), TEXT)


RULES: dict[str, Rule] = {
    "upper": _text("upper"), "lower": _text("lower"), "initcap": _text("initcap"), "reverse": _text("reverse"),
    "length": _fixed("length", INT4, TEXT), "char_length": _fixed("length", INT4, TEXT),
    "character_length": _fixed("length", INT4, TEXT), "octet_length": _fixed("octet_length", INT4, TEXT),
    "bit_length": lambda a: call("*", INT4, call("octet_length", INT4, coerce(a[0], TEXT)), Lit(8, INT4)),
    "substring": _text("substring", TEXT, INT4, INT4), "substr": _text("substring", TEXT, INT4, INT4),
    "left": _text("left", TEXT, INT4), "right": _text("right", TEXT, INT4),
    "repeat": _text("repeat", TEXT, INT4), "replace": _text("replace"), "translate": _text("translate"),
    "btrim": _trim("btrim"), "trim": _trim("btrim"), "ltrim": _trim("ltrim"), "rtrim": _trim("rtrim"),
    "lpad": _pad("lpad"), "rpad": _pad("rpad"),
    "strpos": _fixed("strpos", INT4, TEXT), "split_part": _text("split_part", TEXT, TEXT, INT4),
    "starts_with": _fixed("starts_with", BOOL, TEXT), "ascii": _fixed("ascii", INT4, TEXT),
    "chr": _text("chr", INT4), "md5": _text("md5"), "concat": _concat, "concat_ws": _concat_ws,
    "regexp_replace": _text("regexp_replace"), "regexp_like": _fixed("regexp_like", BOOL, TEXT),
    "to_hex": _text("to_hex", INT8), "quote_literal": _text("quote_literal"),
    "abs": _same_number("abs"), "sign": lambda a: Call(
        "sign", (a[0],), types.numeric(1, 0) if types.is_numeric(a[0].type) else FLOAT8),
    "round": _round("round"), "trunc": _round("trunc"), "floor": _floor("floor"), "ceil": _floor("ceil"),
    "ceiling": _floor("ceil"), "mod": _mod, "div": _div, "power": _power, "pow": _power, "sqrt": _float("sqrt"),
    "cbrt": _float("cbrt"), "exp": _float("exp"), "ln": _float("ln"), "log": _log, "log10": _float("log10"),
    "sin": _float("sin"), "cos": _float("cos"), "tan": _float("tan"), "asin": _float("asin"),
    "acos": _float("acos"), "atan": _float("atan"), "atan2": _float("atan2"), "degrees": _float("degrees"),
    "radians": _float("radians"), "pi": lambda a: Call("pi", (), FLOAT8),
    "gcd": _same_number("gcd"), "lcm": _same_number("lcm"),
    "coalesce": _variadic("coalesce"), "greatest": _variadic("greatest"), "least": _variadic("least"),
    "nullif": _nullif, "num_nulls": lambda a: Call("num_nulls", tuple(a), INT4),
    "num_nonnulls": lambda a: Call("num_nonnulls", tuple(a), INT4),
    "date_trunc": _date_trunc, "date_part": _date_part, "age": _age,
    "make_date": _make("make_date", types.DATE), "make_timestamp": _make("make_timestamp", types.TIMESTAMP),
    "make_interval": _make("make_interval", types.INTERVAL),
    "to_timestamp": lambda a: Call("to_timestamp", (cast(a[0], FLOAT8),), types.TIMESTAMPTZ)
    if len(a) == 1 else _to_number_like("to_timestamp")(a),
    "to_char": _to_char, "date_bin": lambda a: Call(
        "date_bin", (coerce(a[0], types.INTERVAL), coerce(a[1], types.TIMESTAMP),
                     cast(coerce(a[2], a[1].type), a[1].type)), a[1].type),
    "isfinite": _fixed("isfinite", BOOL, types.TIMESTAMP),
    "timezone": lambda a: Call("at_zone", (a[1], coerce(a[0], TEXT)), types.TIMESTAMPTZ
                               if a[1].type.name == "timestamp" else types.TIMESTAMP),
    "array_length": _array_fn("array_length", INT4), "cardinality": _array_fn("cardinality", INT4),
    "array_upper": _array_fn("array_length", INT4),
    "array_to_string": _fixed("array_to_string", TEXT, TEXT, TEXT),
    "array_append": _array_element("array_append"), "array_prepend": _array_element("array_prepend"),
    "array_remove": _array_element("array_remove"), "array_position": _array_element("array_position"),
    "array_cat": _array_fn("array_cat", None),
    "string_to_array": _fixed("string_to_array", types.array(TEXT), TEXT),
    "jsonb_array_length": _fixed("json_array_length", INT4, types.JSONB), "json_array_length": _fixed("json_array_length", INT4, types.JSON),
    "jsonb_typeof": _text("json_typeof", types.JSONB), "json_typeof": _text("json_typeof", types.JSON),
    "jsonb_extract_path_text": _text("json_path_text"), "json_extract_path_text": _text("json_path_text"),
}


def bind_function(name: str, args: list[Scalar]) -> Scalar:
    """The canonical call of a Postgres function; raises UnsupportedSql for one that is not known or is volatile."""
    if name in VOLATILE:
        raise UnsupportedSql(f"the view calls {name}()", code="volatile_function",
                             detail="Its value is not a function of the tables, so no two refreshes agree.",
                             hint="Store the value in a column of the source.")
    rule = RULES.get(name)
    if rule is None:
        raise UnsupportedSql(f"function {name}() is not supported", code="unsupported_function",
                             detail="Its meaning in Postgres has no checked counterpart in the engines.",
                             hint="Compute it in the source, or in the query that reads the view.")
    try:
        return rule(args)
    except (IndexError, TypeError, ValueError) as e:
        kinds = ", ".join(str(a.type) for a in args)
        raise InvalidSql(f"function {name}({kinds}) does not exist", code="undefined_function") from e
