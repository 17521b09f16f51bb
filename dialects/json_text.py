"""jsonb's text as Postgres prints it: keys by length and then bytes, the last of equal keys, digits as they were written."""

from __future__ import annotations

import json
from typing import Any


class Number(str):
    """A JSON number's digits."""


def canonical(text: str) -> str:
    """The text of a jsonb literal; raises ValueError where it is no JSON."""
    return _print(json.loads(text, parse_float=Number, parse_int=Number, object_pairs_hook=dict))


def _print(v: Any) -> str:
    if isinstance(v, Number):
        return str(v)
    if isinstance(v, dict):
        keys = sorted(v, key=lambda k: (len(k.encode()), k.encode()))
        return "{" + ", ".join(f"{json.dumps(k, ensure_ascii=False)}: {_print(v[k])}" for k in keys) + "}"
    if isinstance(v, list):
        return "[" + ", ".join(map(_print, v)) + "]"
    return json.dumps(v, ensure_ascii=False)
