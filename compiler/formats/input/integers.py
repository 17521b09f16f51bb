"""smallint, integer, bigint."""

from __future__ import annotations

import re
from collections.abc import Callable

from compiler.formats.input.refusal import BLANKS, Undecided, invalid, out_of_range

KINDS = {"int2": ("smallint", 16), "int4": ("integer", 32), "int8": ("bigint", 64)}
LATER = re.compile(r"[+-]?(0x_?[0-9a-f]|0o_?[0-7]|0b_?[01]|[0-9]+_[0-9])[0-9a-f_]*", re.I)  # since Postgres 16


def reader(name: str) -> Callable[[str], str]:
    """What reads text as an integer type and gives its digits; it raises InvalidSql, or Undecided between versions."""
    kind, bits = KINDS[name]

    def read(text: str) -> str:
        bare = text.strip(BLANKS)
        found = re.match(r"[+-]?[0-9]+", bare)
        n = 0 if found is None else int(found[0]) if len(found[0]) < 100 else 1 << bits
        if LATER.fullmatch(bare):
            raise Undecided
        if not -(1 << bits - 1) <= n < 1 << bits - 1:  # told before what follows the digits
            raise out_of_range(kind, text)
        if found is None or found.end() != len(bare):
            raise invalid(kind, text)
        return str(n)

    return read


READERS = {name: reader(name) for name in KINDS}
