"""Public functions and methods that are long say in a docstring what they give."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONG = 15  # lines
PACKAGES = ("pipelines", "connectors", "dialects", "scripts", "compiler")


def sources(package: str) -> Iterator[Path]:
    """Python files, scripts without a suffix among them."""
    for path in sorted((ROOT / package).rglob("*")):
        script = not path.suffix and path.is_file() and path.read_bytes().startswith(b"#!/usr/bin/env python3")
        if script or path.suffix == ".py":
            yield path


def public(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions and methods of a module; not those within another."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            if not child.name.startswith("_"):
                yield child
        else:
            yield from public(child)


def silent(text: str) -> list[str]:
    """The long public functions of a text that have no docstring."""
    return [
        f"{f.name}, line {f.lineno}"
        for f in public(ast.parse(text))
        if (f.end_lineno or f.lineno) - f.lineno + 1 >= LONG and not ast.get_docstring(f)
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_long_functions_have_docstrings(package: str) -> None:
    found = list(sources(package))
    assert found
    assert [f"{p.relative_to(ROOT)}: {s}" for p in found for s in silent(p.read_text())] == []


def test_one_without_is_found() -> None:
    body = "\n".join(["        pass"] * LONG)
    assert silent(f"class A:\n    def f(self) -> None:\n{body}\n") == ["f, line 2"]
    assert silent(f'class A:\n    def f(self) -> None:\n        """Nothing."""\n{body}\n') == []
    assert silent(f"def _f() -> None:\n{body}\n") == []
