"""Text, patterns and bytes."""

from __future__ import annotations

from sqlglot import exp

from compiler.errors import UnsupportedSql
from compiler.ir.scalar import Call
from dialects import patterns
from dialects.dialect import Dialect, Emit, cast_to_type, tree


def _regex(flags: str) -> Emit:
    """A dot matches a line's end too, as in Postgres."""

    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        return exp.Anonymous(this="regexp_matches", expressions=[a[0], _pattern(a[1]), exp.Literal.string(flags)])

    return emit


def _pattern(p: exp.Expr) -> exp.Expr:
    return exp.Literal.string(patterns.translated(p.this)) if isinstance(p, exp.Literal) else p


def _regexp_substr(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """What the first group matched, or the whole match where the pattern has none."""
    if not isinstance(a[1], exp.Literal):
        raise UnsupportedSql(
            "substring with a pattern that is not a constant is not supported", code="unsupported_function"
        )
    p = _pattern(a[1])
    group = exp.Literal.number(1 if patterns.groups(p.this) else 0)
    return tree(d, "CASE WHEN REGEXP_MATCHES($1, $2, 's') THEN REGEXP_EXTRACT($1, $2, $3, 's') END", a[0], p, group)


def _options(e: Call) -> exp.Expr:
    """The flags of a call, its third argument, as DuckDB writes them."""
    return exp.Literal.string("is" if "i" in str(e.args[2].value) else "s")  # type: ignore[attr-defined]


def _regexp_whole(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    p = _pattern(a[1])
    return tree(d, "CASE WHEN REGEXP_MATCHES($1, $2, 's') THEN REGEXP_EXTRACT($1, $2, 0, 's') END", a[0], p)


def _composite_field(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    which, of = (int(str(n.this)) for n in a[1:])
    return tree(d, "pg.composite_field($1, $2, $3, $4)", *a, exp.Literal.string(patterns.composite(which, of)))


def _regexp_match(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """What each group matched, or the whole match where there is none."""
    p, flags = _pattern(a[1]), _options(e)
    n = patterns.groups(p.this)
    places = range(1, n + 1) if n else range(1)
    found = [tree(d, f"REGEXP_EXTRACT($1, $2, {i}, $3)", a[0], p, flags) for i in places]
    return tree(d, "CASE WHEN REGEXP_MATCHES($1, $2, $3) THEN $4 END", a[0], p, flags, exp.Array(expressions=found))


def _regexp_count(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return d.cast(tree(d, "LEN(REGEXP_EXTRACT_ALL($1, $2, 0, $3))", a[0], _pattern(a[1]), _options(e)), e.type)


def _regexp_all(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return tree(d, "REGEXP_EXTRACT_ALL($1, $2, $4, $3)", a[0], _pattern(a[1]), _options(e), a[3])


def _regexp_split(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return exp.Anonymous(this="string_split_regex", expressions=[a[0], _pattern(a[1]), _options(e)])


def _regexp_replace(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    new = exp.Literal.string(patterns.replacement(a[2].this)) if isinstance(a[2], exp.Literal) else a[2]
    flags: exp.Expr = exp.Literal.string("s")
    if len(a) > 3:
        if not isinstance(a[3], exp.Literal) or set(a[3].this) - set("gi"):
            raise UnsupportedSql("regexp_replace takes the flags g and i here", code="unsupported_function")
        flags = exp.Literal.string(a[3].this + "s")
    return exp.Anonymous(this="regexp_replace", expressions=[a[0], _pattern(a[1]), new, flags])


def _like(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    kind = exp.Like if e.fn == "like" else exp.ILike
    escape = a[2] if len(a) > 2 else exp.Literal.string("\\")
    return exp.Escape(this=kind(this=exp.Paren(this=a[0]), expression=exp.Paren(this=a[1])), expression=escape)


def _count_nulls(d: Dialect, a: list[exp.Expr], nulls: bool) -> exp.Expr:
    out: exp.Expr | None = None
    for x in a:
        one = tree(d, f"CASE WHEN $1 IS {'' if nulls else 'NOT '}NULL THEN 1 ELSE 0 END", x)
        out = one if out is None else exp.Add(this=out, expression=one)
    return out if out is not None else exp.Literal.number(0)


FUNCTIONS: dict[str, str | Emit] = {
    "||": "$1 || $2",
    "like": _like,
    "ilike": _like,
    "regex": _regex("s"),
    "iregex": _regex("is"),
    "regexp_replace": _regexp_replace,
    "regexp_substr": _regexp_substr,
    "regexp_whole": _regexp_whole,
    "regexp_match": _regexp_match,
    "regexp_count": _regexp_count,
    "regexp_all": _regexp_all,
    "regexp_split": _regexp_split,
    "upper": "pg.upper($1)",
    "lower": "LOWER($1)",
    "reverse": "pg.reverse($1)",
    "length": cast_to_type("LENGTH($1)"),
    "octet_length": cast_to_type("STRLEN($1)"),
    "bytes_length": cast_to_type("OCTET_LENGTH($1)"),
    "initcap": "pg.initcap($1)",
    "substring": lambda d, e, a: (
        tree(d, "pg.substring_from($1, $2)", *a) if len(a) == 2 else tree(d, "pg.substring_for($1, $2, $3)", *a)
    ),
    "bytes_substring": lambda d, e, a: (
        tree(d, "pg.bytes_from($1, $2)", *a) if len(a) == 2 else tree(d, "pg.bytes_for($1, $2, $3)", *a)
    ),
    "left": "LEFT($1, $2)",
    "right": "RIGHT($1, $2)",
    "repeat": "pg.repeated($1, $2)",
    "replace": "CASE WHEN $2 = '' AND $3 IS NOT NULL THEN $1 ELSE REPLACE($1, $2, $3) END",
    "translate": "TRANSLATE($1, $2, $3)",
    "btrim": "TRIM($1, $2)",
    "ltrim": "LTRIM($1, $2)",
    "rtrim": "RTRIM($1, $2)",
    "with_blanks": "$1",
    "same:blanks": "RTRIM($1, ' ') IS NOT DISTINCT FROM RTRIM($2, ' ')",
    "lpad": "pg.pad_left($1, $2, $3)",
    "rpad": "pg.pad_right($1, $2, $3)",
    "strpos": cast_to_type("INSTR($1, $2)"),
    "split_part": "SPLIT_PART($1, $2, $3)",
    "composite_field": _composite_field,
    "kept_number": "pg.kept_number($1)",
    "era_of_date": "REPLACE($1, ' BC', ' (BC)')",
    "range_bound": "pg.range_bound($1, $2)",
    "multirange_ranges": "pg.multirange_ranges($1)",
    "multirange": "'{' || ARRAY_TO_STRING($1, ',') || '}'",
    "starts_with": "STARTS_WITH($1, $2)",
    "ascii": "CASE WHEN $1 = '' THEN 0 ELSE ORD($1) END",
    "chr": "CHR($1)",
    "md5": "MD5($1)",
    "concat": lambda d, e, a: exp.Anonymous(this="concat", expressions=a),
    "concat_ws": lambda d, e, a: exp.Anonymous(this="concat_ws", expressions=a),
    "num_nulls": lambda d, e, a: _count_nulls(d, a, True),
    "num_nonnulls": lambda d, e, a: _count_nulls(d, a, False),
    "enum_ordinals": lambda d, e, a: tree(
        d,
        "LIST_TRANSFORM($2, lambda v: CASE WHEN v IS NOT NULL THEN LIST_POSITION($1, v) END)",
        exp.Array(expressions=a[1:]),
        a[0],
    ),
    "enum_ordinal": lambda d, e, a: tree(d, "LIST_POSITION($1, $2)", exp.Array(expressions=a[1:]), a[0]),
    "encode_hex": "LOWER(HEX($1))",
    "encode_base64": "pg.base64($1)",
    "decode_hex": "UNHEX($1)",
    "decode_base64": "FROM_BASE64($1)",
    "sha256": "UNHEX(SHA256($1))",
    "utf8_bytes": "ENCODE($1)",
    "utf8_text": "DECODE($1)",
}
