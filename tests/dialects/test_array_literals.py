"""Array literals are read as Postgres reads them."""

from __future__ import annotations

import pytest

from compiler.formats.arrays import read_array


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("{}", []),
        (" { } ", []),
        ("{a}", ["a"]),
        ("{ a b , c }", ["a b", "c"]),
        ('{NULL,null,"null"}', [None, None, "null"]),
        ('{"a,b"," c "}', ["a,b", " c "]),
        (r'{"a\"b",\\,\{}', ['a"b', "\\", "{"]),
        ('{""}', [""]),
        (r"{\ ,x}", [" ", "x"]),
        ("{O'Brien,[z],'q'}", ["O'Brien", "[z]", "'q'"]),
        ('{"x"}', ["x"]),
        (r"{a\,}", ["a,"]),
    ],
)
def test_an_array_literal_is_read(text: str, items: list[str | None]) -> None:
    assert read_array(text) == items


@pytest.mark.parametrize(
    "text", ["", "{", "a", "{a,}", "{,a}", "{a", '{"a}', "{{1},{2}}", "[0:1]={1,2}", r"{a,b\,,}", r"{a\}", '{a""b,,c}']
)
def test_what_is_no_array_of_one_dimension_is_an_error(text: str) -> None:
    with pytest.raises(ValueError):
        read_array(text)
