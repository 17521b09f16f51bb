"""Ranges that a view writes down: what their texts tell, and what they do not."""

from __future__ import annotations

import pytest

from compiler.bind.range_parts import parts
from compiler.errors import InvalidSql
from compiler.formats.input.ranges import read
from compiler.ir.scalar import FALSE, TRUE, Lit
from compiler.ir.types import Type


def written(name: str, text: str) -> Lit:
    return Lit(text, Type("opaque", labels=(name,)))


def test_times_are_not_ordered_by_their_texts() -> None:
    """One in another zone may be earlier than it looks, and a day is its first moment."""
    for text in ("[2020-03-01 01:00+02,2020-03-01 00:00+00)", "[2020-03-01,2020-03-01 00:00:00)"):
        assert parts(written("tstzrange", text)).empty not in (TRUE, FALSE)


def test_days_and_numbers_are() -> None:
    assert parts(written("daterange", "(2020-02-28,2020-02-29)")).empty == TRUE
    assert parts(written("int4range", "[2,10]")).empty == FALSE
    with pytest.raises(InvalidSql, match="less than or equal"):
        parts(written("int4range", "[10,2]"))


def test_quotes_are_read_in_one_way() -> None:
    found = read('["a""b\\\\",)')
    assert found is not None and (found.lower, found.upper) == ('a"b\\', None)
    with pytest.raises(InvalidSql, match="malformed"):
        read('["' + '"' * 400 + "x")
