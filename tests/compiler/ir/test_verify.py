"""What a pass must not leave behind is told as a bug of the compiler, by name."""

from __future__ import annotations

import pytest

from compiler.errors import CompilerBug
from compiler.ir.relation import Filter, Project, Relation, Scan
from compiler.ir.scalar import Call, Col, Lit, Outer
from compiler.ir.types import BOOL, INT4
from compiler.ir.verify import passed, verify

T = Scan("public.t", (Col("a", INT4), Col("b", INT4)))


def test_a_column_of_the_query_around_is_not_left() -> None:
    q = Filter(T, Call("=", (Col("a", INT4), Outer("x", INT4)), BOOL))
    with pytest.raises(CompilerBug, match="Outer is left in Filter"):
        verify(q)
    assert verify(q, ()) == q


def test_no_column_is_there_twice() -> None:
    with pytest.raises(CompilerBug, match="repeats a column"):
        Project(T, (("a", Col("a", INT4)), ("a", Col("b", INT4))))


def test_each_pass_is_verified() -> None:
    def broken(r: Relation) -> Relation:
        return Filter(r, Call("=", (Lit(1, INT4), Outer("x", INT4)), BOOL))

    assert passed(T, lambda r: r) == T
    with pytest.raises(CompilerBug, match="Outer is left in Filter"):
        passed(T, lambda r: r, broken, lambda r: T)
