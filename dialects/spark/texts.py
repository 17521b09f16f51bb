"""Text, patterns and bytes."""

from __future__ import annotations

from sqlglot import exp

from compiler.errors import UnsupportedSql
from compiler.ir.scalar import Call
from dialects import patterns
from dialects.dialect import Dialect, Emit, tree
from dialects.spark.common import fn


def _like(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    kind = exp.Like if e.fn == "like" else exp.ILike
    pattern = a[1] if isinstance(a[1], exp.Literal) or len(a) > 2 else tree(d, "pg_like_pattern($1)", a[1])
    if (
        len(a) > 2 and isinstance(a[2], exp.Literal) and not a[2].this
    ):  # no escape: the backslash is a character as any other
        a, pattern = a[:2], tree(d, "REPLACE($1, '\\\\', '\\\\\\\\')", a[1])
    out: exp.Expr = kind(this=exp.Paren(this=a[0]), expression=exp.Paren(this=pattern))
    return exp.Escape(this=out, expression=a[2]) if len(a) > 2 else out


def _concat(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return exp.Anonymous(
        this="concat", expressions=[exp.Coalesce(this=x, expressions=[exp.Literal.string("")]) for x in a]
    )


def _regex(options: str) -> Emit:
    """A dot matches a line's end too, as in Postgres."""

    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        return tree(d, "$1 RLIKE $2", a[0], _pattern(d, a[1], options))

    return emit


def _pattern(d: Dialect, p: exp.Expr, options: str) -> exp.Expr:
    if isinstance(p, exp.Literal):
        return exp.Literal.string(options + patterns.java(p.this))
    return tree(d, "CONCAT($1, $2)", exp.Literal.string(options), p)


def _constants(a: list[exp.Expr]) -> list[str]:
    if not all(isinstance(x, exp.Literal) for x in a):
        raise UnsupportedSql(
            "regular expressions that are not constants are not supported here", code="unsupported_function"
        )
    return [x.this for x in a]


def _regexp_substr(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """What the first group matched, or the whole match where the pattern has none."""
    (p,) = _constants(a[1:])
    pattern, group = exp.Literal.string("(?s)" + patterns.java(p)), exp.Literal.number(1 if patterns.groups(p) else 0)
    return tree(d, "CASE WHEN $1 RLIKE $2 THEN REGEXP_EXTRACT($1, $2, $3) END", a[0], pattern, group)


def _regexp_replace(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """Spark replaces every match: for the first alone, what stands before it is part of the match."""
    p, new, *flags = _constants(a[1:])
    if set("".join(flags)) - set("gi"):
        raise UnsupportedSql("regexp_replace takes the flags g and i here", code="unsupported_function")
    every, options = "g" in "".join(flags), "(?ius)" if "i" in "".join(flags) else "(?s)"
    text = patterns.java_replacement(new, 0 if every else 2)
    pattern = patterns.java(p)
    whole = options + pattern if every else f"{options}^(.*?)({pattern})"
    return exp.Anonymous(
        this="regexp_replace",
        expressions=[a[0], exp.Literal.string(whole), exp.Literal.string(text if every else "$1" + text)],
    )


def _options(e: Call) -> str:
    """The flags of a call, its third argument, as Java writes them."""
    return "(?ius)" if "i" in str(e.args[2].value) else "(?s)"  # type: ignore[attr-defined]


def _regexp_whole(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    p = _pattern(d, a[1], "(?s)")
    return tree(d, "CASE WHEN $1 RLIKE $2 THEN REGEXP_EXTRACT($1, $2, 0) END", a[0], p)


def _regexp_match(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """What each group matched, or the whole match where there is none."""
    p = _pattern(d, a[1], _options(e))
    n = patterns.groups(a[1].this)
    found = [tree(d, f"REGEXP_EXTRACT($1, $2, {i})", a[0], p) for i in (range(1, n + 1) if n else range(1))]
    return tree(d, "CASE WHEN $1 RLIKE $2 THEN $3 END", a[0], p, exp.Anonymous(this="array", expressions=found))


def _regexp_count(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return tree(d, "REGEXP_COUNT($1, $2)", a[0], _pattern(d, a[1], _options(e)))


def _regexp_all(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return tree(d, "REGEXP_EXTRACT_ALL($1, $2, $3)", a[0], _pattern(d, a[1], _options(e)), a[3])


def _regexp_split(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return exp.Anonymous(
        this="split", expressions=[a[0], _pattern(d, a[1], _options(e)), exp.Neg(this=exp.Literal.number(1))]
    )


def _count_nulls(nulls: bool) -> Emit:
    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        out: exp.Expr | None = None
        for x in a:
            one = tree(d, f"CASE WHEN $1 IS {'' if nulls else 'NOT '}NULL THEN 1 ELSE 0 END", x)
            out = one if out is None else exp.Add(this=out, expression=one)
        return out if out is not None else exp.Literal.number(0)

    return emit


def _substring(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return tree(d, "pg_substring_from($1, $2)" if len(a) == 2 else "pg_substring_for($1, $2, $3)", *a)


def _bytes(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return tree(d, "pg_bytes_from($1, $2)" if len(a) == 2 else "pg_bytes_for($1, $2, $3)", *a)


FUNCTIONS: dict[str, str | Emit] = {
    "||": "$1 || $2",
    "||:bytea": "CONCAT($1, $2)",
    "like": _like,
    "ilike": _like,
    "regex": _regex("(?s)"),
    "iregex": _regex("(?ius)"),
    "regexp_replace": _regexp_replace,
    "regexp_substr": _regexp_substr,
    "regexp_whole": _regexp_whole,
    "regexp_match": _regexp_match,
    "regexp_count": _regexp_count,
    "regexp_split": _regexp_split,
    "regexp_all": _regexp_all,
    "num_nulls": _count_nulls(True),
    "num_nonnulls": _count_nulls(False),
    "upper": "pg_upper($1)",
    "lower": "pg_lower($1)",
    "reverse": fn("reverse"),
    "length": fn("length"),
    "octet_length": fn("octet_length"),
    "bytes_length": fn("octet_length"),
    "initcap": "pg_initcap($1)",
    "substring": _substring,
    "bytes_substring": _bytes,
    "left": "pg_left($1, $2)",
    "right": "pg_right($1, $2)",
    "repeat": "pg_repeated($1, $2)",
    "replace": "CASE WHEN $2 = '' AND $3 IS NOT NULL THEN $1 ELSE REPLACE($1, $2, $3) END",
    "translate": fn("translate"),
    "btrim": fn("btrim"),
    "ltrim": lambda d, e, a: exp.Trim(this=a[0], expression=a[1], position="LEADING"),
    "rtrim": lambda d, e, a: exp.Trim(this=a[0], expression=a[1], position="TRAILING"),
    "with_blanks": "$1",
    "same:blanks": "RTRIM($1) <=> RTRIM($2)",
    "lpad": "pg_pad_left($1, $2, $3)",
    "rpad": "pg_pad_right($1, $2, $3)",
    "strpos": fn("instr"),
    "split_part": fn("split_part"),
    "composite_field": "pg_composite_field($1, $2, $3)",
    "kept_number": "pg_kept_number($1)",
    "era_of_date": "$1",
    "range_bound": "pg_range_bound($1, $2)",
    "multirange_ranges": "pg_multirange_ranges($1)",
    "multirange": "CONCAT('{', ARRAY_JOIN($1, ','), '}')",
    "starts_with": fn("startswith"),
    "ascii": fn("ascii"),
    "chr": "pg_chr($1)",
    "md5": fn("md5"),
    "concat": _concat,
    "concat_ws": fn("concat_ws"),
    "enum_ordinal": lambda d, e, a: tree(
        d, "ARRAY_POSITION($1, $2)", exp.Anonymous(this="array", expressions=a[1:]), a[0]
    ),
    "encode_hex": "LOWER(HEX($1))",
    "encode_base64": "pg_base64($1)",
    "decode_hex": fn("unhex"),
    "decode_base64": fn("unbase64"),
    "sha256": "UNHEX(SHA2($1, 256))",
    "utf8_bytes": "ENCODE($1, 'UTF-8')",
    "utf8_text": "DECODE($1, 'UTF-8')",
}
