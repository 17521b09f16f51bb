"""A page of parts, each under a heading: what was measured anew takes the place of what was there."""

from __future__ import annotations

import re

HEAD = "# Benchmarks\n\nWritten by `scripts/bench`.\n\n"
AIMS = "Aims"  # a table of which rows stay that were not measured anew
FIRST = ("Machine", AIMS, "Refresh against", "Spark's jobs", "What a batch", "Many views")  # then as they came


def merged(old: str, parts: list[list[str]]) -> str:
    """The page with these parts, each of which begins with a heading of the second level."""
    there = _sections(old)
    new = {part[0].removeprefix("## "): "\n".join(part[1:]).strip("\n") for part in parts}
    if AIMS in there and AIMS in new:
        new[AIMS] = _rows(there[AIMS], new[AIMS])
    both = {**there, **new}
    both = dict(sorted(both.items(), key=lambda x: next((i for i, f in enumerate(FIRST) if x[0].startswith(f)), 99)))
    return HEAD + "\n\n".join(f"## {title}\n\n{body}" for title, body in both.items()) + "\n"


def _sections(page: str) -> dict[str, str]:
    found = re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", page, re.M | re.S)
    return {title: body.strip("\n") for title, body in found}


def _rows(old: str, new: str) -> str:
    """The new table, with the old one's rows that it has none for."""
    first = re.compile(r"^\| (.+?) \|", re.M)
    has = set(first.findall(new))
    lines = new.split("\n")
    last = max(i for i, line in enumerate(lines) if line.startswith("|"))
    stay = [x for x in old.split("\n") if (m := first.match(x)) is not None and m[1] not in has]
    return "\n".join([*lines[: last + 1], *stay, *lines[last + 1 :]])
