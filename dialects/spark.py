"""Spark SQL: how Postgres' types and functions are spelled there (ANSI mode, session time zone UTC)."""

from __future__ import annotations

from sqlglot import exp

from compiler.errors import UnsupportedSql
from compiler.ir import types
from compiler.ir.scalar import Call, Lit
from compiler.ir.types import Type
from dialects import patterns
from dialects.dialect import Dialect, Emit, typed

NAMES = {"bool": "BOOLEAN", "int2": "SMALLINT", "int4": "INT", "int8": "BIGINT", "float4": "FLOAT", "float8": "DOUBLE",
         "date": "DATE", "timestamp": "TIMESTAMP_NTZ", "timestamptz": "TIMESTAMP_LTZ", "bytea": "BINARY"}


def type_name(t: Type) -> str:
    if t.name == "numeric":
        return f"DECIMAL({t.precision},{t.scale})"
    if t.name == "array":
        return f"ARRAY<{type_name(t.element or types.TEXT)}>"
    return NAMES.get(t.name, "STRING")


def _t(d: Dialect, text: str, *args: exp.Expr) -> exp.Expr:
    return d.template(text, list(args))


def _no(what: str, hint: str = "") -> UnsupportedSql:
    return UnsupportedSql(f"{what} has no counterpart in spark", code="unsupported_function",
                          hint=hint or "Place the view on DuckDB: WITH (engine = 'duckdb').")


def _divide(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    if types.is_integer(e.type):
        return d.cast(_t(d, "$1 DIV NULLIF($2, 0)", *a), e.type)
    if types.is_float(e.type):
        return _t(d, "$1 / NULLIF($2, 0)", *a)
    return d.cast(quotient(d, a[0], a[1], e.args[0].type, e.args[1].type), e.type)


def quotient(d: Dialect, a: exp.Expr, b: exp.Expr, ta: Type, tb: Type) -> exp.Expr:
    """To 8 digits from doubles, then the remainder exactly: right to 18 digits."""
    x = d.cast(a, types.as_numeric(ta)) if types.is_integer(ta) else a
    y = d.cast(b, types.as_numeric(tb)) if types.is_integer(tb) else b
    q = _t(d, "CAST(CAST($1 AS DOUBLE) / NULLIF(CAST($2 AS DOUBLE), 0) AS DECIMAL(38,8))", x, y)
    return exp.Paren(this=_t(
        d, "CAST($3 AS DECIMAL(38,18)) + CAST(CAST($1 - $3 * $2 AS DOUBLE) / NULLIF(CAST($2 AS DOUBLE), 0) AS DECIMAL(38,18))",
        x, y, q))


def _modulo(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return _t(d, "$1 % NULLIF($2, 0)", *a)


def _cast(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    s, t = e.args[0].type, e.type
    x = a[0]
    if types.is_float(s) and types.is_exact(t):
        if types.is_integer(t):
            return d.cast(_t(d, "RINT($1)", x), t)
        return d.cast(_t(d, "CAST(FORMAT_STRING('%.15g', CAST($1 AS DOUBLE)) AS DECIMAL(38,18))", x), t)
    if types.is_numeric(s) and types.is_integer(t):
        return d.cast(_t(d, "ROUND($1, 0)", x), t)
    if types.is_string(t):
        return _to_text(d, e, x)
    if t.name == "bool" and types.is_string(s):
        return d.cast(_t(d, "LOWER(TRIM($1))", x), t)
    if s.name in ("json", "jsonb") and t.name not in ("json", "jsonb"):
        return d.cast(x, t)
    if t.name in ("json", "jsonb"):
        return x
    if t.name == "interval" or s.name == "interval" or t.name == "time":
        raise _no(f"a cast from {s} to {t}")
    if t.name == "array" and types.is_string(s):
        raise _no("a cast from text to an array")
    return d.cast(x, t)


def _to_text(d: Dialect, e: Call, x: exp.Expr) -> exp.Expr:
    s, t = e.args[0].type, e.type
    if s.name == "bpchar" and t.name != "bpchar" or types.is_string(s) or s.name in ("json", "jsonb", "uuid"):
        out = x
    elif s.name == "timestamptz":
        out = _t(d, "CAST(CAST($1 AS TIMESTAMP_NTZ) AS STRING) || '+00'", x)
    elif s.name == "bytea":
        out = _t(d, "'\\\\x' || LOWER(HEX($1))", x)
    elif s.name in ("interval", "array") or types.is_float(s):
        raise _no(f"{s} as text")
    elif s.name == "numeric" and (s.scale or 0) >= types.QUOTIENT_SCALE - 2:
        raise UnsupportedSql("the text of a quotient depends on how Postgres scales it", code="unsupported_cast",
                             hint="Round it first: round(x, 2)::text.")
    else:
        out = d.cast(x, types.TEXT)
    if t.name == "varchar" and t.precision:
        out = _t(d, f"LEFT($1, {t.precision})", out)
    if t.name == "bpchar":
        out = _t(d, f"RTRIM(LEFT($1, {t.precision}))" if t.precision else "RTRIM($1)", out)
    return out


def _interval(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    from dialects.intervals import parse_interval

    lit = e.args[0]
    assert isinstance(lit, Lit)
    m, days, micros = parse_interval(str(lit.value))
    return exp.Anonymous(this="make_interval", expressions=[
        exp.Literal.number(0), _signed(m), exp.Literal.number(0), _signed(days), exp.Literal.number(0),
        exp.Literal.number(0), _t(d, f"CAST('{micros / 1e6:.6f}' AS DECIMAL(18,6))")])


def _signed(n: int) -> exp.Expr:
    return exp.Neg(this=exp.Literal.number(-n)) if n < 0 else exp.Literal.number(n)


def _literal_ts(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    from dialects.times import parse_timestamp, parse_timestamptz

    text = str(e.args[0].value)  # type: ignore[attr-defined]
    out = parse_timestamptz(text) + ":00" if e.type.name == "timestamptz" else parse_timestamp(text, e.type.name)
    return d.cast(exp.Literal.string(out), e.type)


def _plus(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    op = "+" if e.fn == "+" else "-"
    x, y = e.args[0].type, e.args[1].type
    if x.name == "date" and y.name == "date":
        return _t(d, "DATEDIFF($1, $2)", *a)
    if x.name == "date" and types.is_integer(y):
        return _t(d, f"DATE_{'ADD' if op == '+' else 'SUB'}($1, CAST($2 AS INT))", *a)
    if e.type.name == "interval":
        raise _no("an interval as a value")
    if x.name == "time":
        raise _no("arithmetic on time")
    return _t(d, f"$1 {op} $2", *a)


def _times(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    if e.type.name == "interval":
        raise _no("a multiple of an interval")
    return _t(d, "$1 * $2", *a)


def _extract(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    field, source = str(e.args[0].value), e.args[1].type  # type: ignore[attr-defined]
    x = a[1]
    if source.name in ("interval", "time"):
        raise _no(f"extract from {source}")
    if source.name == "date" and field in ("hour", "minute", "second", "milliseconds", "microseconds", "epoch"):
        x = _t(d, "CAST($1 AS TIMESTAMP_NTZ)", x)
    special = {
        "dow": "DAYOFWEEK($1) - 1", "isodow": "WEEKDAY($1) + 1", "isoyear": "YEAROFWEEK($1)",
        "epoch": "UNIX_MICROS(CAST($1 AS TIMESTAMP_LTZ)) / CAST(1000000 AS DECIMAL(7,0))",
        "decade": "FLOOR(YEAR($1) / 10)", "century": "CEIL(YEAR($1) / 100)", "millennium": "CEIL(YEAR($1) / 1000)",
        "milliseconds": "DATE_PART('SECOND', $1) * 1000", "microseconds": "DATE_PART('SECOND', $1) * 1000000",
        "isoweek": "WEEKOFYEAR($1)", "year": "YEAR($1)", "month": "MONTH($1)", "day": "DAY($1)", "hour": "HOUR($1)",
        "minute": "MINUTE($1)", "week": "WEEKOFYEAR($1)", "quarter": "QUARTER($1)", "doy": "DAYOFYEAR($1)",
        "second": "DATE_PART('SECOND', $1)",
    }
    if field == "isoyear":
        return d.cast(exp.Anonymous(this="date_part", expressions=[exp.Literal.string("YEAROFWEEK"), x]), e.type)
    if field in ("second", "milliseconds", "microseconds"):
        s = exp.Anonymous(this="date_part", expressions=[exp.Literal.string("SECOND"), x])
        scale = {"second": 1, "milliseconds": 1000, "microseconds": 1000000}[field]
        return d.cast(exp.Mul(this=s, expression=exp.Literal.number(scale)), e.type)
    import re

    if m := re.fullmatch(r"(\w+)\(\$1\)( [-+] 1)?", special[field]):
        call: exp.Expr = exp.Anonymous(this=m[1].lower(), expressions=[x])
        if m[2]:
            call = (exp.Sub if "-" in m[2] else exp.Add)(this=call, expression=exp.Literal.number(1))
        return d.cast(call, e.type)
    return d.cast(_t(d, special[field], x), e.type)


def _date_trunc(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return d.cast(exp.Anonymous(this="date_trunc", expressions=a), e.type)


def _round(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    if types.is_float(e.args[0].type):
        if e.fn == "round":
            return exp.Anonymous(this="rint", expressions=[a[0]])
        return _t(d, "CASE WHEN $1 < 0 THEN CEIL($1) ELSE FLOOR($1) END", a[0])
    if e.fn == "round":
        n = a[1] if len(a) > 1 else exp.Literal.number(0)
        return d.cast(exp.Anonymous(this="round", expressions=[a[0], n]), e.type)
    if len(a) == 1:
        return d.cast(_t(d, "CASE WHEN $1 < 0 THEN CEIL($1) ELSE FLOOR($1) END", a[0]), e.type)
    k = e.args[1]
    if not isinstance(k, Lit) or int(str(k.value)) < 0:
        raise UnsupportedSql("trunc(x, n) needs a constant n of at least 0", code="unsupported_function")
    unit = exp.Literal.number("1" if k.value == 0 else f"0.{'0' * (int(str(k.value)) - 1)}1")
    return d.cast(_t(d, "$1 - $1 % $2", a[0], unit), e.type)


def _at_zone(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    utc = isinstance(a[1], exp.Literal) and a[1].this.upper() in ("UTC", "GMT", "Z")
    if e.type.name == "timestamp":
        x = a[0] if utc else exp.Anonymous(this="from_utc_timestamp", expressions=a)
        return d.cast(x, e.type)
    x = d.cast(a[0], types.TIMESTAMPTZ)
    return x if utc else exp.Anonymous(this="to_utc_timestamp", expressions=[x, a[1]])


def _fn(name: str, cast: bool = False) -> Emit:
    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        out = exp.Anonymous(this=name, expressions=a)
        return d.cast(out, e.type) if cast else out

    return emit


def _refused(what: str) -> Emit:
    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        raise _no(what)

    return emit


def _like(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    kind = exp.Like if e.fn == "like" else exp.ILike
    out: exp.Expr = kind(this=exp.Paren(this=a[0]), expression=exp.Paren(this=a[1]))
    return exp.Escape(this=out, expression=a[2]) if len(a) > 2 else out


def _parts(a: list[exp.Expr]) -> tuple[list[exp.Expr], list[exp.Ordered], bool]:
    order = [x for x in a if isinstance(x, exp.Ordered)]
    args = [x for x in a if not isinstance(x, (exp.Ordered, exp.Distinct))]
    return args, order, any(isinstance(x, exp.Distinct) for x in a)


def _collected(d: Dialect, value: exp.Expr, order: list[exp.Ordered], distinct: bool) -> exp.Expr:
    """Values of a group as an array, in order: structs of sort keys and value, sorted, the value taken out."""
    if not order:
        return exp.Anonymous(this="collect_set" if distinct else "collect_list", expressions=[
            exp.Anonymous(this="struct", expressions=[exp.alias_(value, "v")])])
    fields = [exp.alias_(o.this, f"k{i}") for i, o in enumerate(order)] + [exp.alias_(value, "v")]
    return exp.Anonymous(this="collect_set" if distinct else "collect_list",
                         expressions=[exp.Anonymous(this="struct", expressions=fields)])


def _sorted(d: Dialect, collected: exp.Expr, order: list[exp.Ordered]) -> exp.Expr:
    """The values, by the order: a comparator that knows DESC and where NULLs go."""
    compare = "0"
    for i, o in reversed(list(enumerate(order))):
        less, more = ("1", "-1") if o.args.get("desc") else ("-1", "1")
        first, last = ("-1", "1") if o.args.get("nulls_first") else ("1", "-1")
        compare = (f"CASE WHEN l.k{i} IS NULL AND r.k{i} IS NULL THEN {compare} WHEN l.k{i} IS NULL THEN {first} "
                   f"WHEN r.k{i} IS NULL THEN {last} WHEN l.k{i} < r.k{i} THEN {less} WHEN l.k{i} > r.k{i} THEN {more} "
                   f"ELSE {compare} END")
    inner = _t(d, f"ARRAY_SORT($1, (l, r) -> {compare})", collected) if order else collected
    return exp.Anonymous(this="transform", expressions=[inner, _lambda(d, "x -> x.v")])


def _lambda(d: Dialect, text: str) -> exp.Expr:
    import sqlglot

    call = sqlglot.parse_one(f"f(a, {text})", read="spark")
    return call.expressions[1] if isinstance(call, exp.Anonymous) else list(call.iter_expressions())[1]


def _string_agg(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    args, order, distinct = _parts(a)
    values = _sorted(d, _collected(d, args[0], order, distinct), order)
    some = exp.Anonymous(this="filter", expressions=[values, _lambda(d, "y -> y IS NOT NULL")])
    return _t(d, "CASE WHEN SIZE($1) = 0 THEN NULL ELSE ARRAY_JOIN($1, $2) END", some, args[1])


def _array_agg(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    args, order, distinct = _parts(a)
    values = _sorted(d, _collected(d, args[0], order, distinct), order)
    return _t(d, "CASE WHEN SIZE($1) = 0 THEN NULL ELSE $1 END", values)


def _within(name: str) -> Emit:
    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        fraction = e.args[0]
        if not isinstance(fraction, Lit):
            raise _no(f"{name} of a fraction that is not constant")
        o = exp.Ordered(this=a[1].this, desc=a[1].args.get("desc"))
        return exp.WithinGroup(this=exp.Anonymous(this=name, expressions=[exp.Literal.number(str(fraction.value))]),
                               expression=exp.Order(expressions=[o]))

    return emit


def _mode(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    o = exp.Ordered(this=a[0].this, desc=a[0].args.get("desc"))
    return exp.WithinGroup(this=exp.Anonymous(this="mode", expressions=[]), expression=exp.Order(expressions=[o]))


def _sum(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    args, _, distinct = _parts(a)
    return d.cast(exp.Sum(this=exp.Distinct(expressions=args) if distinct else args[0]), e.type)


def _avg(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    args, _, distinct = _parts(a)
    x = exp.Distinct(expressions=args) if distinct else args[0]
    t = e.args[0].type
    if types.is_float(t):
        return exp.Anonymous(this="avg", expressions=[x])
    if not types.is_number(t):
        raise _no(f"AVG of {t}")
    wide = types.numeric(38, types.digits(t)[1])
    total, n = d.cast(exp.Sum(this=x), wide), d.cast(exp.Count(this=x.copy()), types.numeric(19, 0))
    return d.cast(quotient(d, total, n, wide, types.numeric(19, 0)), e.type)


def _statistic(name: str) -> Emit:
    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        args: list[exp.Expr] = [d.cast(x, types.FLOAT8) for x in a if not isinstance(x, exp.Distinct)]
        return d.cast(exp.Anonymous(this=name, expressions=[exp.Distinct(expressions=args)] if len(args) < len(a) else args), e.type)

    return emit


def _json_path(key: exp.Expr, d: Dialect) -> exp.Expr:
    if isinstance(key, exp.Literal) and key.is_string:
        return exp.Literal.string(f"$['{key.this}']")
    if isinstance(key, exp.Literal):
        return exp.Literal.string(f"$[{key.this}]")
    return _t(d, "'$[''' || $1 || ''']'", key)


def _json_get(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    path = _json_path(a[1], d)
    return _json_at(d, a[0], path, e.fn == "json_text")


def _json_at(d: Dialect, x: exp.Expr, path: exp.Expr, as_text: bool) -> exp.Expr:
    if as_text:
        return exp.Anonymous(this="get_json_object", expressions=[x, path])
    got = exp.Anonymous(this="try_variant_get", expressions=[
        exp.Anonymous(this="parse_json", expressions=[x]), path, exp.Literal.string("variant")])
    return exp.Anonymous(this="to_json", expressions=[got])


def _json_step(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    key = str(e.args[1].value)  # type: ignore[attr-defined]
    as_text = bool(e.args[2].value)  # type: ignore[attr-defined]
    path = exp.Literal.string(f"$[{key}]" if key.isdigit() else f"$['{key}']")
    return _json_at(d, a[0], path, as_text)


def _concat(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return exp.Anonymous(this="concat", expressions=[exp.Coalesce(this=x, expressions=[exp.Literal.string("")]) for x in a])


def _regex(options: str) -> Emit:
    """A dot matches a line's end too, as in Postgres."""
    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        if len(a) > 2:
            raise UnsupportedSql("regexp_like with flags is not supported", code="unsupported_function", hint="Use ~ or ~*.")
        return _t(d, "$1 RLIKE $2", a[0], _pattern(d, a[1], options))

    return emit


def _pattern(d: Dialect, p: exp.Expr, options: str) -> exp.Expr:
    if isinstance(p, exp.Literal):
        return exp.Literal.string(options + patterns.translated(p.this))
    return _t(d, "CONCAT($1, $2)", exp.Literal.string(options), p)


def _constants(a: list[exp.Expr]) -> list[str]:
    if not all(isinstance(x, exp.Literal) for x in a):
        raise UnsupportedSql("regular expressions that are not constants are not supported here", code="unsupported_function")
    return [x.this for x in a]


def _regexp_substr(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """What the first group matched, or the whole match where the pattern has none."""
    (p,) = _constants(a[1:])
    pattern, group = exp.Literal.string("(?s)" + patterns.translated(p)), exp.Literal.number(1 if patterns.groups(p) else 0)
    return _t(d, "CASE WHEN $1 RLIKE $2 THEN REGEXP_EXTRACT($1, $2, $3) END", a[0], pattern, group)


def _regexp_replace(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """Spark replaces every match: for the first alone, what stands before it is part of the match."""
    p, new, *flags = _constants(a[1:])
    if set("".join(flags)) - set("gi"):
        raise UnsupportedSql("regexp_replace takes the flags g and i here", code="unsupported_function")
    every, options = "g" in "".join(flags), "(?is)" if "i" in "".join(flags) else "(?s)"
    text = patterns.java_replacement(new, 0 if every else 2)
    pattern = patterns.translated(p)
    whole = options + pattern if every else f"{options}^(.*?)({pattern})"
    return exp.Anonymous(this="regexp_replace", expressions=[a[0], exp.Literal.string(whole), exp.Literal.string(text if every else "$1" + text)])


FUNCTIONS: dict[str, str | Emit] = {
    "/": _divide, "%": _modulo, "+": _plus, "-": _plus, "*": _times, "cast": _cast, "extract": _extract,
    "date_trunc": _date_trunc, "round": _round, "trunc": _round, "at_zone": _at_zone, "now": "CURRENT_TIMESTAMP()",
    "||": "$1 || $2", "like": _like, "ilike": _like, "similar": _refused("SIMILAR TO"),
    "regex": _regex("(?s)"), "iregex": _regex("(?is)"), "regexp_like": _regex("(?s)"), "regexp_replace": _regexp_replace,
    "regexp_substr": _regexp_substr,
    "string_to_array": "CASE WHEN $1 = '' THEN CAST(ARRAY() AS ARRAY<STRING>) ELSE SPLIT($1, CONCAT('\\\\Q', $2, '\\\\E')) END",
    "json_typeof": "CASE WHEN SCHEMA_OF_VARIANT(PARSE_JSON($1)) LIKE 'OBJECT%' THEN 'object' WHEN SCHEMA_OF_VARIANT(PARSE_JSON($1)) LIKE "
                   "'ARRAY%' THEN 'array' WHEN SCHEMA_OF_VARIANT(PARSE_JSON($1)) = 'STRING' THEN 'string' WHEN SCHEMA_OF_VARIANT("
                   "PARSE_JSON($1)) = 'BOOLEAN' THEN 'boolean' WHEN SCHEMA_OF_VARIANT(PARSE_JSON($1)) = 'VOID' THEN 'null' "
                   "WHEN $1 IS NOT NULL THEN 'number' END",
    "json_has_key": "COALESCE(ARRAY_CONTAINS(JSON_OBJECT_KEYS($1), $2), FALSE)",
    "upper": "UPPER($1)", "lower": "LOWER($1)", "reverse": _fn("reverse"), "length": _fn("length"),
    "octet_length": _fn("octet_length"), "initcap": _refused("initcap"),
    "substring": lambda d, e, a: exp.Anonymous(this="substring", expressions=[
        a[0], exp.Anonymous(this="greatest", expressions=[a[1], exp.Literal.number(1)]),
        *([_t(d, "GREATEST($1 + $2 - GREATEST($1, 1), 0)", a[1], a[2])] if len(a) > 2 else [])]),
    "left": lambda d, e, a: _t(d, "CASE WHEN $2 >= 0 THEN LEFT($1, $2) ELSE LEFT($1, GREATEST(LENGTH($1) + $2, 0)) END", *a),
    "right": lambda d, e, a: _t(d, "CASE WHEN $2 >= 0 THEN RIGHT($1, $2) ELSE RIGHT($1, GREATEST(LENGTH($1) + $2, 0)) END", *a),
    "repeat": "REPEAT($1, GREATEST($2, 0))", "replace": "CASE WHEN $2 = '' THEN $1 ELSE REPLACE($1, $2, $3) END",
    "translate": _fn("translate"), "btrim": _fn("btrim"),
    "ltrim": lambda d, e, a: exp.Trim(this=a[0], expression=a[1], position="LEADING"),
    "rtrim": lambda d, e, a: exp.Trim(this=a[0], expression=a[1], position="TRAILING"),
    "lpad": lambda d, e, a: exp.Anonymous(this="lpad", expressions=[
        a[0], exp.Anonymous(this="greatest", expressions=[a[1], exp.Literal.number(0)]), a[2]]),
    "rpad": lambda d, e, a: exp.Anonymous(this="rpad", expressions=[
        a[0], exp.Anonymous(this="greatest", expressions=[a[1], exp.Literal.number(0)]), a[2]]),
    "strpos": _fn("instr"), "split_part": _fn("split_part"), "starts_with": _fn("startswith"), "ascii": _fn("ascii"),
    "chr": _fn("chr"), "md5": _fn("md5"), "concat": _concat, "concat_ws": _fn("concat_ws"),
    "to_hex": "LOWER(HEX($1))",
    "abs": typed("ABS($1)"), "sign": typed("SIGN($1)"), "floor": typed("FLOOR($1)"), "ceil": typed("CEIL($1)"),
    "power": _fn("power"), "sqrt": "SQRT($1)", "cbrt": _fn("cbrt"), "exp": "EXP($1)", "ln": "LN($1)",
    "log10": _fn("log10"), "logb": "LN($2) / LN($1)", "sin": _fn("sin"), "cos": _fn("cos"), "tan": _fn("tan"),
    "asin": _fn("asin"), "acos": _fn("acos"), "atan": _fn("atan"), "atan2": _fn("atan2"), "degrees": _fn("degrees"),
    "radians": _fn("radians"), "pi": _fn("pi"), "gcd": _refused("gcd"), "lcm": _refused("lcm"),
    "greatest": _fn("greatest"), "least": _fn("least"),
    "bit_and": "$1 & $2", "bit_or": "$1 | $2", "bit_xor": "$1 ^ $2", "shift_left": _fn("shiftleft"),
    "shift_right": _fn("shiftright"),
    "age": _refused("age"), "make_date": _fn("make_date"), "to_timestamp": _fn("timestamp_seconds"),
    "isfinite": "$1 IS NOT NULL",
    "enum_ordinal": lambda d, e, a: _t(d, "ARRAY_POSITION($1, $2)", exp.Anonymous(this="array", expressions=a[1:]), a[0]),
    "array": lambda d, e, a: d.cast(exp.Anonymous(this="array", expressions=a), e.type),
    "array_get": lambda d, e, a: exp.Anonymous(this="get", expressions=[a[0], exp.Sub(this=a[1], expression=exp.Literal.number(1))]),
    "array_has": _fn("array_contains"),
    "array_length": "CASE WHEN SIZE($1) = 0 THEN NULL ELSE SIZE($1) END", "cardinality": _fn("size"),
    "array_append": _fn("array_append"), "array_prepend": lambda d, e, a: exp.Anonymous(this="array_prepend", expressions=a[::-1]),
    "array_cat": _fn("concat"), "array_position": lambda d, e, a: d.cast(_t(
        d, "NULLIF($1, 0)", exp.Anonymous(this="array_position", expressions=a)), e.type),
    "array_remove": _fn("array_remove"), "array_to_string": _fn("array_join"),
    "array_contains_all": lambda d, e, a: _t(d, "SIZE($1) = 0", exp.Anonymous(this="array_except", expressions=[a[1], a[0]])),
    "array_overlap": _fn("arrays_overlap"),
    "json_quote": "SUBSTRING(TO_JSON(NAMED_STRUCT('x', $1)), 6, LENGTH(TO_JSON(NAMED_STRUCT('x', $1))) - 6)",
    "json_get": _json_get, "json_text": _json_get, "json_step": _json_step, "json_array_length": _fn("json_array_length"),
    "literal:interval": _interval, "literal:timestamptz": _literal_ts, "literal:timestamp": _literal_ts,
    "literal:date": _literal_ts,
    "agg:min": "MIN($1)", "agg:max": "MAX($1)", "agg:bool_and": _fn("bool_and"), "agg:bool_or": _fn("bool_or"),
    "agg:bit_and": _fn("bit_and"), "agg:bit_or": _fn("bit_or"), "agg:bit_xor": _fn("bit_xor"), "agg:sum": _sum,
    "agg:avg": _avg, "agg:any_value": "MIN($1)", "agg:string_agg": _string_agg, "agg:array_agg": _array_agg,
    "agg:percentile_cont": _within("percentile_cont"), "agg:percentile_disc": _within("percentile_disc"), "agg:mode": _mode,
    **{f"agg:{n}": _statistic(n) for n in ("stddev_samp", "stddev_pop", "var_samp", "var_pop", "corr", "covar_pop",
                                          "covar_samp", "regr_avgx", "regr_avgy", "regr_count", "regr_intercept",
                                          "regr_r2", "regr_slope", "regr_sxx", "regr_sxy", "regr_syy")},
}

UNNEST = {
    "unnest": "SELECT POSEXPLODE($1) AS (p, x)",
    "series": "SELECT POSEXPLODE(CASE WHEN ($3 > 0 AND $1 <= $2) OR ($3 < 0 AND $1 >= $2) THEN SEQUENCE($1, $2, $3) ELSE ARRAY() END) AS (p, x)",
    "series_time": "SELECT POSEXPLODE(SEQUENCE($1, $2, $3)) AS (p, x)",
    "json_elements": "SELECT POSEXPLODE(TRANSFORM(CAST(PARSE_JSON($1) AS ARRAY<VARIANT>), v -> TO_JSON(v))) AS (p, x)",
    "json_elements_text": "SELECT POSEXPLODE(TRANSFORM(CAST(PARSE_JSON($1) AS ARRAY<VARIANT>), v -> CAST(v AS STRING))) AS (p, x)",
    "json_keys": "SELECT POSEXPLODE(JSON_OBJECT_KEYS($1)) AS (p, x)",
}

SPARK = Dialect(
    name="spark",
    sqlglot="spark",
    types=type_name,
    functions=FUNCTIONS,
    atomic_tables=False,
    copies="EXPLODE(SEQUENCE(1, CAST($1 AS INT)))",
    unnest=UNNEST,
    null_safe="<=>",
    semi_side="LEFT",
    mirrors={("after", True): ("after_rows", False), ("after", False): ("after", True), ("before", True): ("before_rows", False),
             ("before", False): ("before", True)},
)
