"""Regular expressions with constant patterns."""

from __future__ import annotations

import re
from dataclasses import dataclass

from compiler.bind.coerce import coerce, constant_int, constant_text, unsupported
from compiler.bind.functions.rules import Rule
from compiler.errors import UnsupportedSql
from compiler.ir import types
from compiler.ir.scalar import Call, Lit, Scalar, case, cast, is_null
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
    groups = _groups(str(p.value))
    if any(g.unmatched and g.empty for g in groups):
        raise unsupported("regexp_match with groups that may match nothing")
    found = Call("regexp_match", (x, p, Lit(flags(args, 2, "regexp_match"), TEXT)), TEXTS)
    if not any(g.unmatched for g in groups):
        return found
    each = (Call("array_get", (found, Lit(i + 1, INT4)), TEXT) for i in range(len(groups)))
    parts = tuple(_told(e) if g.unmatched else e for g, e in zip(groups, each, strict=True))
    return case([(is_null(found), Lit(None, TEXTS))], Call("array", parts, TEXTS), TEXTS)


def _told(found: Scalar) -> Scalar:
    """What a group matched, which is not empty where it took part: the engines do not tell that apart."""
    return case([(Call("<>", (found, Lit("", TEXT)), types.BOOL), found)], Lit(None, TEXT), TEXT)


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
    return _told(found)


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
    """Whether a group of a pattern that matches may itself have matched nothing."""
    return any(g.unmatched for g in _groups(pattern))


@dataclass
class _Group:
    """A group of a pattern: whether it is captured, where it begins and ends, and whether it has alternatives. It may
    have no part in a match (`unmatched`): in an alternative, or where it is optional. `empty`: what it matched does not
    tell, as that may be nothing, or is what it matched the last time, or before."""

    captured: bool
    start: int
    end: int = 0
    bar: bool = False
    unmatched: bool = False
    empty: bool = False


def _groups(pattern: str) -> list[_Group]:
    """Those that are captured, in their order."""
    edges, taken = r"\\[bBAZmMyY]", r"\\.|\[\^?\]?(?:\[:\w+:\]|\\.|[^\]])*\]"
    plain = re.sub(f"{edges}|({taken})", lambda m: "x" if m[1] else "", pattern)  # edges take nothing
    open_ = [_Group(False, 0)]
    every = [*open_]
    for i, char in enumerate(plain):
        if char == "(":
            open_.append(_Group(plain[i + 1 : i + 2] != "?", i))
            every.append(open_[-1])
        elif char == "|":
            open_[-1].bar = True
        elif char == ")" and len(open_) > 1:
            g, then = open_.pop(), plain[i + 1 : i + 2]
            g.end = i + 1
            g.empty |= _empty(plain[g.start + 1 : i])
            for x in (x for x in every if x is g or g.start < x.start < x.end <= g.end):
                x.unmatched |= then in ("?", "*", "{") or g.bar and x is not g
                x.empty |= then in ("*", "+", "{")
    for x in every:
        x.unmatched |= every[0].bar
    return [g for g in every if g.captured]


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
