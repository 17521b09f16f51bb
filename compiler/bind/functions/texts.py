"""Text: cutting, padding, searching, formatting; and bytes."""

from __future__ import annotations

import re

from compiler.bind.coerce import coerce, constant_text, joined, padded, printed, unsupported
from compiler.bind.functions.rules import Rule, fixed, text
from compiler.bind.operators import binary
from compiler.ir import types
from compiler.ir.scalar import Call, Lit, Scalar, case, cast, is_null
from compiler.ir.types import BOOL, BYTEA, INT4, TEXT, UUID


def _length(args: list[Scalar]) -> Scalar:
    """Characters of text, bytes of bytes; of bytes in an encoding, the characters of their text."""
    if len(args) > 1:
        return Call("length", (_utf8("utf8_text", "length", TEXT)([coerce(args[0], BYTEA), args[1]]),), INT4)
    fn = "bytes_length" if args[0].type.name == "bytea" else "length"
    return Call(fn, (coerce(args[0], TEXT),), INT4)


def _octets(args: list[Scalar]) -> Scalar:
    fn = "bytes_length" if args[0].type.name == "bytea" else "octet_length"
    return Call(fn, (padded(coerce(args[0], TEXT)),), INT4)


def _substring(args: list[Scalar]) -> Scalar:
    if args[0].type.name == "bytea":
        return Call("bytes_substring", (args[0], *(coerce(a, INT4) for a in args[1:])), BYTEA)
    return text("substring", TEXT, INT4, INT4)(args)


def _strpos(args: list[Scalar]) -> Scalar:
    if any(a.type.name == "bytea" for a in args):
        raise unsupported("position of bytes")
    return fixed("strpos", INT4, TEXT)(args)


def _overlay(args: list[Scalar]) -> Scalar:
    """What stands before the place, the new text, and what stands after its length, or after that of the new text."""
    if any(a.type.name == "bytea" for a in args):
        raise unsupported("overlay of bytes")
    s, new, start, *length = (args[0], cast(args[1], TEXT), *args[2:])
    after = binary("+", start, length[0] if length else _length([new]))
    head = _substring([s, Lit(1, INT4), binary("-", start, Lit(1, INT4))])
    return joined([head, new, _substring([s, after])])


def _trim(fn: str) -> Rule:
    def rule(args: list[Scalar]) -> Scalar:
        if args[0].type.name == "bytea":
            raise unsupported(f"{fn} of bytes")
        return Call(fn, (coerce(args[0], TEXT), coerce(args[1], TEXT) if len(args) > 1 else Lit(" ", TEXT)), TEXT)

    return rule


def _pad(fn: str) -> Rule:
    def rule(args: list[Scalar]) -> Scalar:
        return Call(
            fn,
            (coerce(args[0], TEXT), coerce(args[1], INT4), coerce(args[2], TEXT) if len(args) > 2 else Lit(" ", TEXT)),
            TEXT,
        )

    return rule


def quoted(x: Scalar) -> Scalar:
    """quote_literal: quotes doubled, and an E in front where there is a backslash."""

    def doubled(e: Scalar, what: str) -> Scalar:
        return Call("replace", (e, Lit(what, TEXT), Lit(what * 2, TEXT)), TEXT)

    x = cast(x, TEXT)
    plain = doubled(x, "'")
    slash = Call(">", (Call("strpos", (x, Lit("\\", TEXT)), INT4), Lit(0, INT4)), BOOL)
    escaped = joined([Lit("E'", TEXT), doubled(plain, "\\"), Lit("'", TEXT)])
    return case([(slash, escaped)], joined([Lit("'", TEXT), plain, Lit("'", TEXT)]), TEXT)


def nullable(x: Scalar) -> Scalar:
    return Call("coalesce", (quoted(x), Lit("NULL", TEXT)), TEXT)


def _format(args: list[Scalar]) -> Scalar:
    """format() with a constant pattern of %s, %L, %%, with positions but without widths."""
    pattern, rest = constant_text(coerce(args[0], TEXT), "format() with a pattern"), args[1:]
    parts: list[Scalar] = []
    at = taken = 0
    for m in re.finditer(r"%(?:(\d+)\$)?(.?)", pattern):
        parts.append(Lit(pattern[at : m.start()], TEXT))
        at = m.end()
        if m[2] == "%" and not m[1]:
            parts.append(Lit("%", TEXT))
            continue
        taken = int(m[1]) if m[1] else taken + 1
        if m[2] not in ("s", "L") or taken > len(rest) or not taken:
            raise unsupported(f"format with %{m[2]}")
        x = coerce(rest[taken - 1], TEXT)
        parts.append(nullable(printed(x)) if m[2] == "L" else Call("coalesce", (printed(x), Lit("", TEXT)), TEXT))
    parts.append(Lit(pattern[at:], TEXT))
    return joined([p for p in parts if p != Lit("", TEXT)])


def _encode(args: list[Scalar]) -> Scalar:
    form = constant_text(coerce(args[1], TEXT), "encode() with a format").lower()
    if form not in ("hex", "base64") or args[0].type.name != "bytea":
        raise unsupported(f"encode to {form}")
    return Call(f"encode_{form}", (args[0],), TEXT)


def _decode(args: list[Scalar]) -> Scalar:
    form = constant_text(coerce(args[1], TEXT), "decode() with a format").lower()
    if form not in ("hex", "base64"):
        raise unsupported(f"decode from {form}")
    return Call(f"decode_{form}", (coerce(args[0], TEXT),), BYTEA)


def _utf8(fn: str, name: str, result: types.Type) -> Rule:
    def rule(args: list[Scalar]) -> Scalar:
        if constant_text(coerce(args[1], TEXT), f"{name}() with an encoding").upper() not in ("UTF8", "UTF-8"):
            raise unsupported(f"{name} of an encoding other than UTF8")
        return Call(fn, (coerce(args[0], TEXT),), result)

    return rule


def _reversed(args: list[Scalar]) -> Scalar:
    return Call("reverse", (cast(args[0], TEXT),), TEXT)


def _split_part(args: list[Scalar]) -> Scalar:
    """A separator that is empty parts nothing: the whole is the first and the last field."""
    x, by, n = coerce(args[0], TEXT), coerce(args[1], TEXT), coerce(args[2], INT4)
    got = Call("split_part", (x, by, n), TEXT)
    if isinstance(by, Lit) and by.value:
        return got
    ends = Call("in", (n, Lit(1, INT4), Lit(-1, INT4)), BOOL)
    empty = Call("=", (by, Lit("", TEXT)), BOOL)
    null = Call("or", (is_null(x), is_null(n)), BOOL)
    return case([(null, Lit(None, TEXT)), (Call("and", (empty, ends), BOOL), x), (empty, Lit("", TEXT))], got, TEXT)


RULES: dict[str, Rule] = {
    "reverse": _reversed,
    "length": _length,
    "char_length": _length,
    "character_length": _length,
    "octet_length": _octets,
    "bit_length": lambda a: Call(
        "*", (_octets([a[0] if a[0].type.name == "bytea" else cast(a[0], TEXT)]), Lit(8, INT4)), INT4
    ),
    "substring": _substring,
    "substr": _substring,
    "btrim": _trim("btrim"),
    "ltrim": _trim("ltrim"),
    "rtrim": _trim("rtrim"),
    "lpad": _pad("lpad"),
    "rpad": _pad("rpad"),
    "strpos": _strpos,
    "position": lambda a: _strpos([a[1], a[0]]),
    "overlay": _overlay,
    "split_part": _split_part,
    "concat": lambda a: Call("concat", tuple(map(printed, a)), TEXT),
    "concat_ws": lambda a: Call("concat_ws", tuple(map(printed, a)), TEXT),
    "quote_literal": lambda a: quoted(coerce(a[0], TEXT)),
    "quote_nullable": lambda a: nullable(coerce(a[0], TEXT)),
    "format": _format,
    "encode": _encode,
    "decode": _decode,
    "convert_to": _utf8("utf8_bytes", "convert_to", BYTEA),
    "convert_from": _utf8("utf8_text", "convert_from", TEXT),
    "uuid": lambda a: cast(a[0], UUID),
}
