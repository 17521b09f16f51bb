"""Postgres' regular expressions in RE2's and Java's spelling; what has no counterpart is refused."""

from __future__ import annotations

import re

from compiler.errors import UnsupportedSql

WORD_EDGES = {"y": r"\b", "m": r"\b", "M": r"\b", "A": r"\A", "Z": r"\z"}


LETTERS = r"\p{L}\p{Mc}\p{Nl}"  # and of \p{Mn} a half, which no class tells apart
ALNUM = rf"{LETTERS}\p{{Nd}}"
WORD = f"{ALNUM}_"
# a space that does not break is none
SPACE = r"\t-\r \x{1680}\x{2000}-\x{2006}\x{2008}-\x{200A}\x{2028}\x{2029}\x{205F}\x{3000}"
SOLID = r"\p{Cf}\p{Co}\x{A0}\x{2007}\x{202F}"
CLASSES = {
    "alpha": LETTERS,
    "alnum": ALNUM,
    "upper": r"\p{Lu}\p{Lt}",
    "lower": r"\p{Ll}",
    "digit": "0-9",
    "space": SPACE,
    "cntrl": r"\p{Cc}",
    "print": r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\p{Cf}\p{Co}",
    "graph": rf"\p{{L}}\p{{M}}\p{{N}}\p{{P}}\p{{S}}{SOLID}",
    "punct": rf"\p{{P}}\p{{S}}\p{{No}}\p{{Mn}}\p{{Me}}{SOLID}",
}
SHORT = {"w": WORD, "s": SPACE}


def composite(which: int, of: int) -> str:
    """What a composite value of so many fields matches as Postgres prints it; its group is one of them."""
    item = r'(?:"[^"]*(?:""[^"]*)*"|[^",()]*)'
    before, after = (f"(?:{item},){{{which - 1}}}" if which > 1 else ""), f"(?:,{item}){{{of - which}}}"
    return rf"\A\({before}({item}){after if of > which else ''}\)\z"


def java(pattern: str) -> str:
    """A constant pattern for Java, to which `$` is before a line's end too, a brace always a bound, and brackets
    sets in sets."""
    out = translated(pattern, {"$": r"\z", "{": r"\{"}, {"[": r"\[", "&": r"\&"})
    return out.replace("(?i)", "(?iu)", 1) if out.startswith("(?i)") else out


NOTHING: dict[str, str] = {}


def translated(pattern: str, plain: dict[str, str] = NOTHING, bracketed: dict[str, str] = NOTHING) -> str:
    """A constant pattern for RE2; raises UnsupportedSql for look-around, back references and embedded options other
    than those of case, and of a dot that matches a line's end, as it does.

    `plain` and `bracketed`: characters that the engine needs written otherwise, outside of brackets and within.
    """
    out, at, inside = "", 0, False
    if (option := re.match(r"\(\?([is]+)\)", pattern)) is not None:
        out, at = ("(?i)" if "i" in option[1] else ""), option.end()
    while at < len(pattern):
        two = pattern[at : at + 2]
        if inside and (m := re.match(r"\[:(\w+):\]", pattern[at:])):
            out, at = out + CLASSES.get(m[1], m[0]), at + m.end()
            continue
        if two[0] == "\\" and (meant := SHORT.get(two[1:].lower())) is not None and not (inside and two[1].isupper()):
            out, at = out + (meant if inside else f"[{'^' if two[1].isupper() else ''}{meant}]"), at + 2
            continue
        if two[0] in "[]" and (two[0] == "[") != inside:
            inside = not inside
            if inside:
                head = re.match(r"\[\^?\]?", pattern[at:])
                assert head is not None
                out, at = out + head[0].replace("]", r"\]"), at + head.end()
                continue
        if two[0] == "\\" and len(two) == 2:
            if two[1].isdigit():
                raise _no("a back reference")
            if (
                two == r"\M"
                and re.match(r"\w", pattern[at + 2 :])
                or two == r"\m"
                and re.search(r"(?<!\\)\w$", pattern[:at])
            ):
                raise _no(f"{two} on the other side of a word's edge")
            out, at = out + WORD_EDGES.get(two[1], two), at + 2
        elif re.match(r"\(\?[=!<]", pattern[at:]):
            raise _no("look-around")
        elif pattern.startswith("***", at) or (not inside and re.match(r"\(\?(?!:)", pattern[at:])):
            raise _no("an embedded option")
        elif two[0] == "{" and re.match(r"\{\d", pattern[at:]):
            out, at = out + "{", at + 1
        else:
            out, at = out + (bracketed if inside else plain).get(two[0], two[0]), at + 1
    return out


def groups(pattern: str) -> int:
    r"""How many groups a pattern captures: its parentheses, but for `\(`, `(?:` and those within brackets."""
    bare = re.sub(r"\\.|\[\^?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\]", "", pattern)
    return len(re.findall(r"\((?!\?)", bare))


def replacement(text: str) -> str:
    r"""`\&` is the whole match."""
    return re.sub(r"\\(.)", lambda m: r"\0" if m[1] == "&" else m[0], text)


def java_replacement(text: str, whole: int) -> str:
    r"""`\1` and `\&` in Java's spelling, where the whole match is group number `whole`."""

    def one(m: re.Match[str]) -> str:
        if m[0] == "$":
            return r"\$"
        if m[1] == "&":
            return f"${whole}"
        return f"${int(m[1]) + whole}" if m[1].isdigit() else m[0] if m[1] == "\\" else m[1]

    return re.sub(r"\$|\\(.)", one, text)


def _no(what: str) -> UnsupportedSql:
    return UnsupportedSql(
        f"{what} in a regular expression has no counterpart in the engines", code="unsupported_function"
    )
