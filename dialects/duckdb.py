"""DuckDB: how Postgres' types and functions are spelled there."""

from __future__ import annotations

from sqlglot import exp

from compiler.errors import InvalidSql, UnsupportedSql
from compiler.ir import types
from compiler.ir.scalar import Call, Lit
from compiler.ir.types import Type
from dialects import json_text, patterns
from dialects.dialect import Dialect, Emit, typed
from dialects.times import to_strftime

NAMES = {"bool": "BOOLEAN", "int2": "SMALLINT", "int4": "INTEGER", "int8": "BIGINT", "float4": "FLOAT",
         "float8": "DOUBLE", "date": "DATE", "time": "TIME", "timestamp": "TIMESTAMP",
         "timestamptz": "TIMESTAMP WITH TIME ZONE", "interval": "INTERVAL", "uuid": "UUID", "bytea": "BLOB"}


def type_name(t: Type) -> str:
    if t.name == "numeric":
        return f"DECIMAL({t.precision},{t.scale})"
    if t.name == "array":
        return f"{type_name(t.element or types.TEXT)}[]"
    return NAMES.get(t.name, "VARCHAR")


def _t(d: Dialect, text: str, *args: exp.Expr) -> exp.Expr:
    return d.template(text, list(args))


def storage(t: Type) -> str:
    """128-bit decimals are kept as they are: reading them bit-packed took 17 times as long (200,000 rows, 1.5.5)."""
    wide = t.name == "numeric" and (t.precision or 0) > 18
    return " USING COMPRESSION uncompressed" if wide else ""


def _divide(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """Integer division truncates; numeric is exact to the scale of its type, by one correction of the double quotient."""
    if types.is_integer(e.type):
        return d.cast(_t(d, "$1 // $2", *a), e.type)
    if types.is_float(e.type):
        return _t(d, "$1 / NULLIF($2, 0)", *a)
    whole = [d.cast(x, types.as_numeric(y.type)) if types.is_integer(y.type) else x for x, y in zip(a, e.args, strict=True)]
    return d.cast(_t(d, "pg.divide($1, $2)", *whole), e.type)


def _modulo(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return _t(d, "$1 % NULLIF($2, 0)", *a)


def _cast(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    s, t = e.args[0].type, e.type
    x = a[0]
    if types.is_float(s) and types.is_exact(t):
        if types.is_integer(t):
            return d.cast(_t(d, "ROUND_EVEN($1, 0)", x), t)
        return d.cast(_t(d, "pg.exact_real($1)" if s.name == "float4" else "pg.exact($1)", x), t) if (t.scale or 0) > 0 else d.cast(x, t)
    if types.is_numeric(s) and types.is_integer(t):
        return d.cast(_t(d, "ROUND($1, 0)", x), t)
    if types.is_string(t):
        return _to_text(d, e, x)
    if t.name == "bool" and types.is_string(s):
        return d.cast(_t(d, "LOWER(TRIM($1))", x), t)
    if t.name == "date" and s.name == "timestamptz":
        return d.cast(_t(d, "$1 AT TIME ZONE 'UTC'", x), t)
    if t.name == "timestamp" and s.name == "timestamptz":
        return _t(d, "$1 AT TIME ZONE 'UTC'", x)
    if t.name == "timestamptz" and s.name in ("timestamp", "date"):
        return _t(d, "CAST($1 AS TIMESTAMP) AT TIME ZONE 'UTC'", x)
    if t.name == "time" and s.name == "timestamptz":
        return d.cast(_t(d, "$1 AT TIME ZONE 'UTC'", x), t)
    if t.name in ("json", "jsonb") and types.is_string(s):
        return _t(d, "pg.jsonb($1)", x) if t.name == "jsonb" else x
    if s.name in ("json", "jsonb") and not types.is_string(t) and t.name not in ("json", "jsonb"):
        return d.cast(x, t)
    if t.name == "interval" and types.is_string(s):
        return _t(d, "CAST($1 AS INTERVAL)", x)
    if t.name == "array" and types.is_string(s):
        return d.cast(_t(d, "pg.array_text($1)", x), t)
    return d.cast(x, t)


def _to_text(d: Dialect, e: Call, x: exp.Expr) -> exp.Expr:
    s, t = e.args[0].type, e.type
    if s.name == "bpchar" and t.name != "bpchar":
        out = x
    elif s.name == "bool":
        out = _t(d, "CASE WHEN $1 THEN 'true' WHEN NOT $1 THEN 'false' END", x)
    elif types.is_float(s):
        out = _t(d, "pg.float_text($1)", x)
    elif s.name == "timestamptz":
        out = _t(d, "pg.timestamp_text($1 AT TIME ZONE 'UTC') || '+00'", x)
    elif s.name == "timestamp":
        out = _t(d, "pg.timestamp_text($1)", x)
    elif s.name == "interval":
        out = _t(d, "pg.interval_text($1)", x)
    elif s.name == "array":
        raise UnsupportedSql("an array as text has no counterpart in duckdb", code="unsupported_cast",
                             hint="Use array_to_string(array, ',').")
    elif s.name == "bytea":
        out = _t(d, "'\\x' || LOWER(HEX($1))", x)
    elif s.name == "numeric" and (s.scale or 0) >= types.QUOTIENT_SCALE - 2:
        raise UnsupportedSql("the text of a quotient depends on how Postgres scales it", code="unsupported_cast",
                             hint="Round it first: round(x, 2)::text.")
    elif s == types.numeric():
        raise UnsupportedSql("the text of a numeric without a scale depends on how each value was written", code="unsupported_cast",
                             hint="Round it first: round(x, 2)::text, or give the column a scale: numeric(12, 2).")
    elif types.is_string(s):
        out = x
    else:
        out = d.cast(x, types.TEXT)
    if t.name == "varchar" and t.precision:
        out = _t(d, f"LEFT($1, {t.precision})", out)
    if t.name == "bpchar":
        out = _t(d, f"RTRIM(LEFT($1, {t.precision}), ' ')" if t.precision else "RTRIM($1, ' ')", out)
    return out


def _literal_interval(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """An interval literal as (months, days, microseconds), read as Postgres reads it."""
    from dialects.intervals import parse_interval

    lit = e.args[0]
    assert isinstance(lit, Lit)
    months, days, micros = parse_interval(str(lit.value))
    parts = [f"TO_MONTHS({months})" if months else "", f"TO_DAYS({days})" if days else "",
             f"TO_MICROSECONDS({micros})" if micros else ""]
    text = " + ".join(p for p in parts if p) or "TO_DAYS(0)"
    return exp.Paren(this=_t(d, text)) if "+" in text else _t(d, text)


def _literal_time(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return d.cast(a[0], e.type)


def _literal_tz(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    from dialects.times import parse_timestamptz

    lit = e.args[0]
    assert isinstance(lit, Lit)
    return d.cast(exp.Literal.string(parse_timestamptz(str(lit.value))), e.type)


def _literal_ts(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    from dialects.times import parse_timestamp

    lit = e.args[0]
    assert isinstance(lit, Lit)
    return d.cast(exp.Literal.string(parse_timestamp(str(lit.value), e.type.name)), e.type)


def _literal_array(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return d.cast(_t(d, "pg.array_text($1)", a[0]), e.type)


def _literal_json(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    lit = e.args[0]
    assert isinstance(lit, Lit)
    if e.type.name == "json":
        return a[0]
    try:
        return exp.Literal.string(json_text.jsonb(str(lit.value)))
    except ValueError as x:
        raise InvalidSql(f'invalid input syntax for type json: "{lit.value}"', code="invalid_text") from x


def _literal_bytea(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    text = str(e.args[0].value)  # type: ignore[attr-defined]
    if not text.startswith("\\x"):
        raise UnsupportedSql("a bytea literal is read in hex format only", code="unsupported_literal", hint="Write '\\x0aff'.")
    return _t(d, "UNHEX($1)", exp.Literal.string(text[2:]))


def _regex(flags: str) -> Emit:
    """A dot matches a line's end too, as in Postgres."""
    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        if len(a) > 2:
            raise UnsupportedSql("regexp_like with flags is not supported", code="unsupported_function", hint="Use ~ or ~*.")
        return exp.Anonymous(this="regexp_matches", expressions=[a[0], _pattern(a[1]), exp.Literal.string(flags)])

    return emit


def _pattern(p: exp.Expr) -> exp.Expr:
    return exp.Literal.string(patterns.translated(p.this)) if isinstance(p, exp.Literal) else p


def _regexp_substr(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """What the first group matched, or the whole match where the pattern has none."""
    if not isinstance(a[1], exp.Literal):
        raise UnsupportedSql("substring with a pattern that is not a constant is not supported", code="unsupported_function")
    p = _pattern(a[1])
    group = exp.Literal.number(1 if patterns.groups(p.this) else 0)
    return _t(d, "CASE WHEN REGEXP_MATCHES($1, $2, 's') THEN REGEXP_EXTRACT($1, $2, $3, 's') END", a[0], p, group)


def _regexp_replace(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    new = exp.Literal.string(patterns.replacement(a[2].this)) if isinstance(a[2], exp.Literal) else a[2]
    flags: exp.Expr = exp.Literal.string("s")
    if len(a) > 3:
        if not isinstance(a[3], exp.Literal) or set(a[3].this) - set("gi"):
            raise UnsupportedSql("regexp_replace takes the flags g and i here", code="unsupported_function")
        flags = exp.Literal.string(a[3].this + "s")
    return exp.Anonymous(this="regexp_replace", expressions=[a[0], _pattern(a[1]), new, flags])


def _plus(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    op = "+" if e.fn == "+" else "-"
    x, y = e.args[0].type, e.args[1].type
    if x.name == "date" and y.name == "date":
        return d.cast(_t(d, "$1 - $2", *a), types.INT4)
    if x.name == "date" and types.is_integer(y):
        return d.cast(_t(d, f"$1 {op} CAST($2 AS INTEGER)", *a), types.DATE)
    if x.name == "timestamptz" and y.name == "interval":
        return _t(d, f"($1 AT TIME ZONE 'UTC' {op} $2) AT TIME ZONE 'UTC'", *a)
    if x.name in ("timestamp", "timestamptz") and y.name == x.name:
        return _t(d, "pg.between($1, $2)", *a)
    if x.name == "time" and y.name == "time":
        return _t(d, "TO_MICROSECONDS(EPOCH_US($1 - $2))" if False else "$1 - $2", *a)
    if types.is_float(e.type) and e.type.name == "float4":
        return d.cast(_t(d, f"$1 {op} $2", *a), e.type)
    return _t(d, f"$1 {op} $2", *widened(d, e, a))


def _times(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    if e.type.name == "interval":
        return _t(d, "pg.interval_times($1, CAST($2 AS DOUBLE))", *a)
    if types.is_numeric(e.type):
        p = [as_decimal(d, x, y) for x, y in zip(a, e.args, strict=True)]
        (w1, s1), (w2, s2) = (types.digits(y.type) for y in e.args)
        if w1 + s1 <= 18 and w2 + s2 <= 18 < w1 + s1 + w2 + s2:  # DuckDB gives such products 18 digits
            p[0] = d.cast(p[0], types.numeric(19, s1))
        return _t(d, "$1 * $2", *p)
    return _t(d, "$1 * $2", *widened(d, e, a))


def widened(d: Dialect, e: Call, a: list[exp.Expr]) -> list[exp.Expr]:
    """Operands narrower than the result are cast to it: DuckDB computes SMALLINT with a small constant in 2 bytes."""
    if not types.is_integer(e.type):
        return a
    return [d.cast(x, e.type) if types.is_integer(y.type) and y.type != e.type else x for x, y in zip(a, e.args, strict=True)]


def as_decimal(d: Dialect, x: exp.Expr, e) -> exp.Expr:  # type: ignore[no-untyped-def]
    """Integers beyond 4 bytes are made decimals before they meet one, so that products do not overflow."""
    return d.cast(x, types.as_numeric(e.type)) if e.type.name == "int8" else x


def _extract(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    field, source = str(e.args[0].value), e.args[1].type  # type: ignore[attr-defined]
    x = a[1]
    if source.name == "timestamptz" and field != "epoch":
        x = _t(d, "$1 AT TIME ZONE 'UTC'", x)
    if field == "second":
        out = _t(d, "DATE_PART('microsecond', $1) / 1000000.0", x) if source.name != "date" else exp.Literal.number(0)
        return d.cast(d.cast(out, types.FLOAT8), e.type)
    if field == "milliseconds":
        return d.cast(d.cast(_t(d, "DATE_PART('microsecond', $1) / 1000.0", x), types.FLOAT8), e.type)
    if field == "microseconds":
        return d.cast(_t(d, "DATE_PART('microsecond', $1)", x), e.type)
    if field == "epoch":
        return d.cast(_t(d, "EPOCH($1)", x), e.type)
    return d.cast(_t(d, f"DATE_PART('{field}', $1)", x), e.type)


def _date_trunc(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    def cut(x: exp.Expr) -> exp.Expr:
        return d.cast(exp.Anonymous(this="date_trunc", expressions=[a[0], x]), types.TIMESTAMP)

    if e.type.name == "timestamptz":
        return _t(d, "$1 AT TIME ZONE 'UTC'", cut(_t(d, "$1 AT TIME ZONE 'UTC'", a[1])))
    return cut(a[1]) if e.type.name == "timestamp" else exp.Anonymous(this="date_trunc", expressions=[a[0], a[1]])


def _round(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    s = e.args[0].type
    if types.is_float(s):
        return _t(d, "ROUND_EVEN($1, 0)" if e.fn == "round" else "TRUNC($1)", a[0])
    if e.fn == "round":
        return d.cast(_t(d, "ROUND($1, $2)", *a) if len(a) > 1 else _t(d, "ROUND($1, 0)", *a), e.type)
    if len(a) == 1:
        return d.cast(_t(d, "TRUNC($1)", *a), e.type)
    n = e.args[1]
    if not isinstance(n, Lit) or int(str(n.value)) < 0:
        raise UnsupportedSql("trunc(x, n) needs a constant n of at least 0", code="unsupported_function")
    unit = exp.Literal.number("1" if n.value == 0 else f"0.{'0' * (int(str(n.value)) - 1)}1")
    return d.cast(_t(d, "$1 - $1 % $2", a[0], unit), e.type)


def _many(name: str) -> Emit:
    return lambda d, e, a: exp.Anonymous(this=name, expressions=a)


def _concat(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return exp.Anonymous(this="concat", expressions=a)


def _ordered(name: str) -> Emit:
    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        distinct = any(isinstance(x, exp.Distinct) for x in a)
        order = [x for x in a if isinstance(x, exp.Ordered)]
        args = [x for x in a if not isinstance(x, (exp.Ordered, exp.Distinct))]
        if distinct:
            args[0] = exp.Distinct(expressions=[args[0]])
        if order:
            args[-1] = exp.Order(this=args[-1], expressions=order)
        return exp.Anonymous(this=name, expressions=args)

    return emit


def _string_agg(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return _ordered("string_agg")(d, e, a)


def _array_agg(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return _ordered("list")(d, e, a)


def _within(name: str) -> Emit:
    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        fraction, order = e.args[0], a[1]
        if not isinstance(fraction, Lit):
            raise UnsupportedSql(f"{name} needs a constant fraction", code="unsupported_function")
        f = exp.Literal.number(str(fraction.value))
        return exp.Anonymous(this="quantile_cont" if name == "percentile_cont" else "quantile_disc",
                             expressions=[order.this.copy(), exp.Order(this=f, expressions=[order])])

    return emit


def _mode(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """The most frequent value; of several, Postgres takes the first in the order."""
    return exp.Anonymous(this="mode", expressions=[exp.Order(this=a[0].this.copy(), expressions=[a[0]])])


def _sum(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return d.cast(_t(d, "SUM($1)", *[x for x in a if not isinstance(x, exp.Distinct)]), e.type) if not any(
        isinstance(x, exp.Distinct) for x in a) else d.cast(exp.Sum(this=exp.Distinct(expressions=[a[0]])), e.type)


def _avg(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    x = a[0]
    if any(isinstance(y, exp.Distinct) for y in a):
        x = exp.Distinct(expressions=[x])
    if types.is_float(e.args[0].type):
        return exp.Anonymous(this="avg", expressions=[x])
    if e.args[0].type.name == "interval":
        raise UnsupportedSql("AVG of intervals has no counterpart in duckdb", code="unsupported_function")
    total = d.cast(exp.Sum(this=x), types.numeric(38, types.digits(e.args[0].type)[1]))
    count = d.cast(exp.Count(this=x.copy()), types.numeric(19, 0))
    return d.cast(d.template("pg.divide($1, $2)", [total, count]), e.type)


def _json_agg(name: str) -> Emit:
    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        raise UnsupportedSql(f"{name} has no counterpart in duckdb", code="unsupported_function")

    return emit


def _regression(name: str) -> Emit:
    """Where the spread of an argument is 0 DuckDB says NaN, Postgres NULL; NaN and infinities among the values stay."""
    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        args = [d.cast(x, types.FLOAT8) for x in a]
        call = exp.Anonymous(this=name, expressions=args)
        if name not in ("corr", "regr_slope", "regr_intercept", "regr_r2"):
            return call
        total = exp.Sum(this=exp.Add(this=args[0].copy(), expression=args[1].copy()))
        text = "CASE WHEN ISNAN($1) AND ISFINITE($2) THEN NULL ELSE $1 END"
        if name == "regr_r2":
            text = "CASE WHEN $3 > 0 AND $4 = 0 THEN 1 WHEN ISNAN($1) AND ISFINITE($2) THEN NULL ELSE $1 END"
        spread = [exp.Anonymous(this=n, expressions=[x.copy() for x in args]) for n in ("regr_sxx", "regr_syy")]
        return _t(d, text, call, total, *spread)

    return emit


def _at_zone(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return exp.Paren(this=exp.AtTimeZone(this=exp.Paren(this=a[0]), zone=a[1]))


def _like(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    kind = exp.Like if e.fn == "like" else exp.ILike
    escape = a[2] if len(a) > 2 else exp.Literal.string("\\")
    return exp.Escape(this=kind(this=exp.Paren(this=a[0]), expression=exp.Paren(this=a[1])), expression=escape)


def _similar(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    raise UnsupportedSql("SIMILAR TO has no counterpart in duckdb", code="unsupported_function",
                         hint="Use LIKE or a regular expression (~).")


def _json_step(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    key = str(e.args[1].value)  # type: ignore[attr-defined]
    text = "->>" if bool(e.args[2].value) else "->"  # type: ignore[attr-defined]
    import re

    if re.fullmatch(r"-?\d+", key):
        out = _t(d, f"CASE WHEN JSON_TYPE($1) = 'ARRAY' THEN $1 {text} {int(key)} ELSE $1 {text} '{key}' END", a[0])
        return out if text == "->>" else _t(d, "pg.spaced($1)", d.cast(out, types.TEXT))
    return _json_get_key(d, text, a[0], a[1])


def _json_get_key(d: Dialect, op: str, x: exp.Expr, key: exp.Expr) -> exp.Expr:
    fn = "JSON_EXTRACT_STRING" if op == "->>" else "JSON_EXTRACT"
    if isinstance(key, exp.Literal) and key.is_string:
        path: exp.Expr = exp.Literal.string('$."' + key.this.replace('"', '\\"') + '"')
    else:
        path = _t(d, "'$.\"' || $1 || '\"'", key)
    return _json_out(d, op, x, path, exp.Anonymous(this=fn, expressions=[x, path]))


def _json_out(d: Dialect, op: str, x: exp.Expr, path: exp.Expr, out: exp.Expr) -> exp.Expr:
    """Objects and arrays with the blanks that jsonb prints; a string's own text is left alone."""
    if op == "->":
        return _t(d, "pg.spaced($1)", d.cast(out, types.TEXT))
    return _t(d, "CASE WHEN JSON_TYPE($1, $2) IN ('OBJECT', 'ARRAY') THEN pg.spaced($3) ELSE $3 END", x, path, out)


def _json_get(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    op = "->>" if e.fn == "json_text" else "->"
    if types.is_integer(e.args[1].type):
        fn = "JSON_EXTRACT_STRING" if op == "->>" else "JSON_EXTRACT"
        path = _t(d, "CASE WHEN $1 >= 0 THEN '$[' || $1 || ']' ELSE '$[#' || $1 || ']' END", a[1])
        if e.args[0].type.name == "jsonb":  # a scalar is its own first and last element
            scalar = _t(d, "JSON_TYPE($1) NOT IN ('ARRAY', 'OBJECT') AND $2 IN (0, -1)", a[0], a[1])
            path = _t(d, "CASE WHEN $1 THEN '$' ELSE $2 END", scalar, path)
        return _json_out(d, op, a[0], path, exp.Anonymous(this=fn, expressions=[a[0], path]))
    return _json_get_key(d, op, a[0], a[1])


FUNCTIONS: dict[str, str | Emit] = {
    "/": _divide, "%": _modulo, "+": _plus, "-": _plus, "*": _times, "cast": _cast, "extract": _extract,
    "date_trunc": _date_trunc, "round": _round, "trunc": _round, "at_zone": _at_zone, "now": "pg.now()",
    "||": "$1 || $2", "like": _like, "ilike": _like, "similar": _similar,
    "regex": _regex("s"), "iregex": _regex("is"), "regexp_like": _regex("s"), "regexp_replace": _regexp_replace,
    "regexp_substr": _regexp_substr,
    "upper": "UPPER($1)", "lower": "LOWER($1)", "reverse": "REVERSE($1)", "length": typed("LENGTH($1)"),
    "octet_length": typed("STRLEN($1)"), "initcap": "pg.initcap($1)",
    "substring": lambda d, e, a: _t(d, "pg.substring_from($1, $2)", *a) if len(a) == 2
    else _t(d, "pg.substring_for($1, $2, $3)", *a),
    "left": "LEFT($1, $2)", "right": "RIGHT($1, $2)",
    "repeat": "REPEAT($1, GREATEST($2, 0))", "replace": "CASE WHEN $2 = '' THEN $1 ELSE REPLACE($1, $2, $3) END",
    "translate": "TRANSLATE($1, $2, $3)",
    "btrim": "TRIM($1, $2)", "ltrim": "LTRIM($1, $2)", "rtrim": "RTRIM($1, $2)",
    "lpad": "pg.pad_left($1, $2, $3)", "rpad": "pg.pad_right($1, $2, $3)",
    "strpos": typed("INSTR($1, $2)"), "split_part": "SPLIT_PART($1, $2, $3)", "starts_with": "STARTS_WITH($1, $2)",
    "ascii": "CASE WHEN $1 = '' THEN 0 ELSE ORD($1) END", "chr": "CHR($1)", "md5": "MD5($1)", "concat": _concat,
    "concat_ws": lambda d, e, a: exp.Anonymous(this="concat_ws", expressions=a),
    "to_hex": "LOWER(TO_HEX($1))", "num_nulls": lambda d, e, a: _count_nulls(d, a, True),
    "num_nonnulls": lambda d, e, a: _count_nulls(d, a, False),
    "abs": typed("ABS($1)"), "sign": typed("SIGN($1)"), "floor": typed("FLOOR($1)"), "ceil": typed("CEIL($1)"),
    "power": "POW($1, $2)", "sqrt": "SQRT($1)", "cbrt": "CBRT($1)", "exp": "EXP($1)", "ln": "LN($1)",
    "log10": "LOG10($1)", "logb": "LN($2) / LN($1)", "sin": "SIN($1)", "cos": "COS($1)", "tan": "TAN($1)",
    "asin": "ASIN($1)", "acos": "ACOS($1)", "atan": "ATAN($1)", "atan2": "ATAN2($1, $2)", "degrees": "DEGREES($1)",
    "radians": "RADIANS($1)", "pi": "PI()", "gcd": typed("GCD($1, $2)"), "lcm": typed("LCM($1, $2)"),
    "greatest": _many("greatest"), "least": _many("least"),
    "bit_and": "$1 & $2", "bit_or": "$1 | $2", "bit_xor": "XOR($1, $2)", "shift_left": "$1 << $2", "shift_right": "$1 >> $2",
    "age": "pg.age($1, $2)", "make_date": "MAKE_DATE($1, $2, $3)",
    "to_char": lambda d, e, a: exp.Anonymous(this="strftime", expressions=[
        a[0], exp.Literal.string(to_strftime(str(e.args[1].value)))]),  # type: ignore[attr-defined]
    "to_timestamp": "TO_TIMESTAMP($1)", "isfinite": "ISFINITE($1)",
    "enum_ordinal": lambda d, e, a: _t(d, "LIST_POSITION($1, $2)", exp.Array(expressions=a[1:]), a[0]),
    "array": lambda d, e, a: d.cast(exp.Array(expressions=a), e.type) if not a else exp.Array(expressions=a),
    "array_get": "LIST_EXTRACT($1, $2)", "array_has": "pg.array_has($1, $2)",
    "array_length": "CASE WHEN LEN($1) = 0 THEN NULL ELSE LEN($1) END", "cardinality": typed("LEN($1)"),
    "array_append": "LIST_APPEND($1, $2)", "array_prepend": "LIST_PREPEND($1, $2)",
    "array_cat": "LIST_CONCAT($1, $2)", "array_position": typed("LIST_POSITION($1, $2)"),
    "array_remove": "LIST_FILTER($1, lambda v: v IS DISTINCT FROM $2)",
    "array_to_string": lambda d, e, a: _t(d, "ARRAY_TO_STRING($1, $2)", a[0], a[1]) if len(a) == 2 else _t(
        d, "ARRAY_TO_STRING(LIST_TRANSFORM($1, lambda v: COALESCE(CAST(v AS VARCHAR), $3)), $2)", *a),
    "string_to_array": "CASE WHEN $1 = '' THEN CAST([] AS VARCHAR[]) ELSE STRING_SPLIT($1, $2) END", "array_contains_all": "LIST_HAS_ALL($1, $2)",
    "array_overlap": "LIST_HAS_ANY($1, $2)",
    "json_get": _json_get, "json_text": _json_get, "json_step": _json_step,
    "json_quote": "CAST(TO_JSON($1) AS VARCHAR)",
    "json_contains": "JSON_CONTAINS($1, $2)", "json_array_length": typed("JSON_ARRAY_LENGTH($1)"),
    "json_has_key": "JSON_EXISTS($1, '$.\"' || $2 || '\"')",
    "json_typeof": "pg.json_typeof($1)",
    "literal:interval": _literal_interval, "literal:timestamptz": _literal_tz, "literal:timestamp": _literal_ts,
    "literal:date": _literal_ts, "literal:array": _literal_array, "literal:json": _literal_json,
    "literal:jsonb": _literal_json, "literal:bytea": _literal_bytea,
    "agg:min": "MIN($1)", "agg:max": "MAX($1)", "agg:bool_and": "BOOL_AND($1)", "agg:bool_or": "BOOL_OR($1)",
    "agg:bit_and": "BIT_AND($1)", "agg:bit_or": "BIT_OR($1)", "agg:bit_xor": "BIT_XOR($1)", "agg:sum": _sum,
    "agg:avg": _avg, "agg:any_value": "MIN($1)", "agg:string_agg": _string_agg, "agg:array_agg": _array_agg,
    "agg:stddev_samp": typed("STDDEV_SAMP(CAST($1 AS DOUBLE))"), "agg:stddev_pop": typed("STDDEV_POP(CAST($1 AS DOUBLE))"),
    "agg:var_samp": typed("VAR_SAMP(CAST($1 AS DOUBLE))"), "agg:var_pop": typed("VAR_POP(CAST($1 AS DOUBLE))"),
    "agg:percentile_cont": _within("percentile_cont"), "agg:percentile_disc": _within("percentile_disc"),
    "agg:mode": _mode,
    **{f"agg:{n}": _regression(n) for n in ("corr", "covar_pop", "covar_samp", "regr_avgx", "regr_avgy", "regr_count",
                                            "regr_intercept", "regr_r2", "regr_slope", "regr_sxx", "regr_sxy",
                                            "regr_syy")},
}


def _count_nulls(d: Dialect, a: list[exp.Expr], nulls: bool) -> exp.Expr:
    out: exp.Expr | None = None
    for x in a:
        one = _t(d, f"CASE WHEN $1 IS {'' if nulls else 'NOT '}NULL THEN 1 ELSE 0 END", x)
        out = one if out is None else exp.Add(this=out, expression=one)
    return out if out is not None else exp.Literal.number(0)


UNNEST = {
    "unnest": "SELECT UNNEST($1) AS x, GENERATE_SUBSCRIPTS($1, 1) AS o",
    "series": "SELECT x, ROW_NUMBER() OVER () AS o FROM GENERATE_SERIES(CAST($1 AS BIGINT), CAST($2 AS BIGINT), CAST($3 AS BIGINT)) AS s(x)",
    "series_time": "SELECT UNNEST(GENERATE_SERIES($1, $2, $3)) AS x, UNNEST(RANGE(1, LEN(GENERATE_SERIES($1, $2, $3)) + 1)) AS o",
    "json_elements": "SELECT pg.spaced(CAST(UNNEST(CAST($1 AS JSON[])) AS VARCHAR)) AS x, UNNEST(RANGE(1, pg.json_size($1) + 1)) AS o",
    "json_elements_text": "SELECT pg.json_shown(UNNEST(CAST($1 AS JSON[]))) AS x, UNNEST(RANGE(1, pg.json_size($1) + 1)) AS o",
    "json_keys": "SELECT UNNEST(JSON_KEYS($1)) AS x, UNNEST(RANGE(1, LEN(JSON_KEYS($1)) + 1)) AS o",
    "json_each": "SELECT UNNEST(JSON_KEYS($1)) AS key, pg.spaced(CAST(pg.json_member($1, UNNEST(JSON_KEYS($1))) AS VARCHAR)) AS value",
    "json_each_text": "SELECT UNNEST(JSON_KEYS($1)) AS key, pg.json_shown(pg.json_member($1, UNNEST(JSON_KEYS($1)))) AS value",
}

# Postgres' meaning where DuckDB's own function differs; created in each warehouse, readable there.
MACROS = {
    # the quotient to 8 digits from doubles, then the remainder exactly: right to 18 digits
    "refine(a, b, q)": "CAST(q AS DECIMAL(38,18)) + CAST(CAST(a - q * b AS DOUBLE) / CAST(b AS DOUBLE) AS DECIMAL(38,18))",
    "divide(a, b)": "pg.refine(a, b, CAST(CAST(a AS DOUBLE) / NULLIF(CAST(b AS DOUBLE), 0) AS DECIMAL(38,8)))",
    "now()": "coalesce(CAST(getvariable('tidemark_now') AS TIMESTAMPTZ), now())",
    "spaced(x)": "rtrim(regexp_replace(x, '((?:\"(?:[^\"\\\\]|\\\\.)*\"|[^\",:])+)([,:]|$)', '\\1\\2 ', 'g'), ' ')",
    "array_has(l, x)": "CASE WHEN list_contains(l, x) THEN TRUE WHEN len(l) > 0 AND x IS NULL OR len(l) <> list_count(l) THEN NULL "
                       "WHEN len(l) = 0 THEN FALSE ELSE list_contains(l, x) END",
    "json_size(x)": "CAST(json_array_length(x) AS BIGINT)",
    "json_member(x, k)": "json_extract(x, '$.\"' || k || '\"')",
    "json_shown(x)": "CASE WHEN json_type(x) IN ('OBJECT', 'ARRAY') THEN pg.spaced(CAST(x AS VARCHAR)) ELSE x ->> '$' END",
    "exact_real(x)": "printf('%.6g', x)",
    "exact(x)": "printf('%.15g', x)",
    "float_text(x)": "regexp_replace(CAST(x AS VARCHAR), '\\.0($|e)', '\\1')",
    "timestamp_text(x)": "CAST(x AS VARCHAR)",
    "interval_text(x)": "replace(replace(CAST(x AS VARCHAR), 'months', 'mons'), 'month', 'mon')",
    "jsonb(x)": "x",
    "array_text(x)": "'[' || x[2:-2] || ']'",
    "between(a, b)": "a - b",
    "months_of(i)": "datepart('year', i) * 12 + datepart('month', i)",
    "micros_of(i)": "datepart('hour', i) * 3600000000 + datepart('minute', i) * 60000000 + datepart('microsecond', i)",
    "interval_of(m, d, u)": "to_months(CAST(trunc(m) AS INTEGER)) + to_days(CAST(trunc(d + (m - trunc(m)) * 30) AS INTEGER))"
    " + to_microseconds(CAST(round(u + ((d + (m - trunc(m)) * 30) - trunc(d + (m - trunc(m)) * 30)) * 86400000000.0)"
    " AS BIGINT))",
    "interval_times(i, n)": "pg.interval_of(pg.months_of(i) * n, datepart('day', i) * n, pg.micros_of(i) * n)",
    "initcap(x)": "array_to_string(list_transform(regexp_extract_all(lower(x), '[\\p{L}\\p{N}]+|[^\\p{L}\\p{N}]+'),"
    " lambda w: upper(w[1]) || w[2:]), '')",
    "substring_from(s, a)": "substring(s, greatest(a, 1))",
    "substring_for(s, a, n)": "substring(s, greatest(a, 1), greatest(a + n - greatest(a, 1), 0))",
    "pad_left(s, n, f)": "CASE WHEN length(s) >= n OR f = '' THEN left(s, greatest(n, 0)) ELSE lpad(s, n, f) END",
    "pad_right(s, n, f)": "CASE WHEN length(s) >= n OR f = '' THEN left(s, greatest(n, 0)) ELSE rpad(s, n, f) END",
    "age(a, b)": "age(a, b)",
    "json_typeof(x)": "CASE json_type(x) WHEN 'OBJECT' THEN 'object' WHEN 'ARRAY' THEN 'array' WHEN 'VARCHAR' THEN 'string'"
    " WHEN 'BOOLEAN' THEN 'boolean' WHEN 'NULL' THEN 'null' ELSE CASE WHEN x IS NULL THEN NULL ELSE 'number' END END",
}


def create_macros() -> list[str]:
    """CREATE MACRO statements, dependencies first."""
    return [f"CREATE OR REPLACE MACRO pg.{head} AS {body}" for head, body in MACROS.items()]


DUCKDB = Dialect(
    name="duckdb",
    sqlglot="duckdb",
    types=type_name,
    storage=storage,
    hashes_comparisons=True,
    functions=FUNCTIONS,
    atomic_tables=True,
    copies="UNNEST(RANGE($1))",
    unnest=UNNEST,
    mirrors={("after", True): ("base", False), ("after", False): ("base", False), ("before", True): ("before_rows", False),
             ("before", False): ("before", True)},
)
