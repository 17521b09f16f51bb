"""Regular expressions with constant patterns."""

from __future__ import annotations

import re
from dataclasses import dataclass

from compiler.bind.coerce import coerce, constant_int, constant_text, unsupported
from compiler.bind.functions.rules import Rule
from compiler.errors import UnsupportedSql
from compiler.ir import types
from compiler.ir.scalar import Call, Lit, Scalar, case, cast
from compiler.ir.types import BOOL, INT4, TEXT

TEXTS = types.array(TEXT)


def flags(args: list[Scalar], at: int, name: str, allowed: str = "ic") -> str:
    """The constant flags at a place, `` where there are none; raises UnsupportedSql for one that is not known."""
    got = constant_text(coerce(args[at], TEXT), f"{name} with flags") if len(args) > at else ""
    if set(got) - set(allowed):
        raise unsupported(f"{name} with the flags {got}")
    return got


QUANTIFIED = re.compile(r"(?:[*+?]|\{\d+,\d*\})(\??)")


def one_greed(pattern: str) -> str:
    """The pattern; raises UnsupportedSql where it takes both as much and as little as it can: for Postgres the first
    quantifier decides how long the whole match is, for the engines each for its own part. Between ^ and $ they
    agree."""
    plain = re.sub(r"\\.|\[\^?\]?(?:\[:\w+:\]|\\.|[^\]])*\]|\(\?.", "x", pattern)
    kinds = {m[1] for m in QUANTIFIED.finditer(plain)}
    if len(kinds) > 1 and not (plain.startswith("^") and plain.endswith("$") and "|" not in plain):
        raise UnsupportedSql(
            "a regular expression with greedy and lazy quantifiers is not supported here",
            code="unsupported_function",
            detail=f"{pattern} matches more in Postgres, or less, than in the engines.",
            hint="Use quantifiers of one kind, [^/]* in the place of .*? before a slash.",
        )
    return pattern


def _subject(args: list[Scalar], name: str) -> tuple[Scalar, Lit]:
    pattern = one_greed(constant_text(coerce(args[1], TEXT), f"{name} with a pattern"))
    return cast(coerce(args[0], TEXT), TEXT), Lit(pattern, TEXT)


def _like(args: list[Scalar]) -> Scalar:
    fn = "iregex" if "i" in flags(args, 2, "regexp_like") else "regex"
    return Call(fn, (coerce(args[0], TEXT), coerce(args[1], TEXT)), BOOL)


def _match(args: list[Scalar]) -> Scalar:
    """An array of what the groups matched, or of the whole; NULL where nothing does."""
    x, p = _subject(args, "regexp_match")
    if _may_be_unmatched(str(p.value)):
        raise unsupported("regexp_match with groups that may match nothing")
    return Call("regexp_match", (x, p, Lit(flags(args, 2, "regexp_match"), TEXT)), TEXTS)


def every_match(args: list[Scalar]) -> list[Scalar]:
    """Of each group an array with what it matched each time, one after the other; of the whole where there are no
    groups."""
    x, p = _subject(args, "regexp_matches")
    if _may_be_unmatched(str(p.value)) or _empty(str(p.value)):
        raise unsupported("regexp_matches with groups that may match nothing")
    groups = re.compile(re.sub(r"\[:\w+:\]", "x", str(p.value))).groups
    options = Lit(flags(args, 2, "regexp_matches"), TEXT)
    return [
        Call("regexp_all", (x, p, options, Lit(n, INT4)), TEXTS) for n in (range(1, groups + 1) if groups else (0,))
    ]


def _substr(args: list[Scalar]) -> Scalar:
    """The first match from a position on."""
    x, p = _subject(args, "regexp_substr")
    start = constant_int(args[2]) if len(args) > 2 else 1
    if start is None or len(args) > 3:
        raise unsupported("regexp_substr of a later match")
    if start > 1:
        x = Call("substring", (x, Lit(start, INT4)), TEXT)
    return Call("regexp_whole", (x, p), TEXT)


def first_group(x: Scalar, p: Scalar) -> Scalar:
    """substring(x FROM p): what the first group matched, NULL where it took no part; the whole match where there is
    none."""
    if isinstance(p, Lit):
        one_greed(str(p.value))
    found = Call("regexp_substr", (cast(x, TEXT), cast(p, TEXT)), TEXT)
    if not isinstance(p, Lit) or not _may_be_unmatched(str(p.value)):
        return found
    inner = re.search(r"(?<!\\)\((?!\?)((?:\\.|[^()\\])*)\)", str(p.value))
    if inner is None or _empty(inner[1]):
        raise unsupported("substring with a group that may match nothing")
    return case([(Call("<>", (found, Lit("", TEXT)), types.BOOL), found)], Lit(None, TEXT), TEXT)


def _count(args: list[Scalar]) -> Scalar:
    x, p = _subject(args, "regexp_count")
    if _empty(str(p.value)):
        raise unsupported("regexp_count of a pattern that matches nothing")
    if len(args) > 2:
        x = Call("substring", (x, coerce(args[2], INT4)), TEXT)
    return Call("regexp_count", (x, p, Lit(flags(args, 3, "regexp_count"), TEXT)), INT4)


def _split(args: list[Scalar]) -> Scalar:
    x, p = _subject(args, "regexp_split_to_array")
    if p.value == "":  # one character a part, and of no characters one part
        return case(
            [(Call("=", (x, p), types.BOOL), Call("array", (x,), TEXTS))], Call("characters", (x,), TEXTS), TEXTS
        )
    if _empty(str(p.value)):
        raise unsupported("regexp_split_to_array at a pattern that matches nothing")
    return Call("regexp_split", (x, p, Lit(flags(args, 2, "regexp_split_to_array"), TEXT)), TEXTS)


def _replace(args: list[Scalar]) -> Scalar:
    pattern, new, *options = (str(a.value) if isinstance(a, Lit) else "" for a in args[1:])
    if isinstance(args[1], Lit) and new and "g" in "".join(options) and _empty(pattern) and pattern not in ("^", "$"):
        raise unsupported("regexp_replace of every match of a pattern that may match nothing")
    one_greed(pattern)
    return Call("regexp_replace", tuple(coerce(a, TEXT) for a in args), TEXT)


def _may_be_unmatched(pattern: str) -> bool:
    """Whether a group of a pattern that matches may itself have matched nothing: in an alternative, or where it is
    optional."""
    plain = re.sub(r"\\.|\[\^?\]?(?:\[:\w+:\]|\\.|[^\]])*\]", "x", pattern)  # without escapes and classes
    groups = [_Group(captured=False)]
    for i, char in enumerate(plain):
        if char == "(":
            groups.append(_Group(captured=plain[i + 1 : i + 2] != "?"))
        elif char == "|":
            groups[-1].bar = True
        elif char == ")" and len(groups) > 1:
            g = groups.pop()
            captures = g.captured or g.captures
            if g.bar and g.captures or captures and plain[i + 1 : i + 2] in ("?", "*", "{"):
                return True
            groups[-1].captures |= captures
    return groups[0].bar and groups[0].captures


@dataclass
class _Group:
    """An open group of a pattern: whether it is captured, holds others that are, and has alternatives."""

    captured: bool
    captures: bool = False
    bar: bool = False


def _empty(pattern: str) -> bool:
    """Whether a pattern matches the empty string."""
    try:
        plain = re.sub(r"\[:\w+:\]", "x", pattern)
        return (
            re.compile(re.sub(r"(\\[^ymM])|\\[ymM]", r"\1", plain)).search("") is not None
        )  # ends of words take nothing
    except re.error:
        return True


RULES: dict[str, Rule] = {
    "regexp_like": _like,
    "regexp_match": _match,
    "regexp_substr": _substr,
    "regexp_count": _count,
    "regexp_split_to_array": _split,
    "regexp_replace": _replace,
}
