"""JSON as text with every digit kept: as jsonb prints it, and with the keys of an object in order."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any


class Number(str):
    """A JSON number's digits, as they were written."""


def read(text: str) -> Any:
    """JSON with numbers as `Number`; raises ValueError where it is none."""
    return json.loads(text, parse_float=Number, parse_int=Number)


def jsonb(text: str) -> str:
    """As Postgres prints jsonb: keys by length and then by bytes, the last of equal ones."""
    return printed(read(text), lambda k: (len(k.encode()), k.encode()), str, False)


def ordered(value: Any) -> str:
    """Keys in order; a number in the shortest form that loses no digit."""
    return printed(value, lambda k: k, shortest, True)


def shortest(n: Number) -> str:
    """The digits a double prints, where they are the same number."""
    if n.lstrip("-").isdigit():
        return str(n)
    short = repr(float(n))
    return short if Decimal(short) == Decimal(n) else str(n)


def printed(v: Any, by: Callable[[str], Any], number: Callable[[Number], str], ascii: bool) -> str:
    def go(x: Any) -> str:
        if isinstance(x, Number):
            return number(x)
        if isinstance(x, dict):
            return "{" + ", ".join(f"{json.dumps(k, ensure_ascii=ascii)}: {go(x[k])}" for k in sorted(x, key=by)) + "}"
        if isinstance(x, list):
            return "[" + ", ".join(map(go, x)) + "]"
        return json.dumps(x, ensure_ascii=ascii)

    return go(v)
