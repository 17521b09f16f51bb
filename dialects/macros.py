"""Postgres' meaning where an engine's own function differs: one macro a file, in `<engine>/macros/`.

DuckDB keeps them, in the schema pg of each warehouse; for Spark each call is replaced when SQL is printed (`expand`).
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from graphlib import TopologicalSorter
from importlib import resources

FORM = re.compile(r"(?:--[^\n]*\n)*CREATE MACRO ([\w.]+)\(([^)]*)\) AS\n(.*)", re.S)


@dataclass(frozen=True)
class Macro:
    """A function by its name, as SQL calls it, its parameters and the expression that it stands for."""

    name: str
    parameters: tuple[str, ...]
    body: str


@functools.cache
def read(engine: str) -> dict[str, Macro]:
    """The macros of an engine by name; raises ValueError for a file that holds none."""
    out: dict[str, Macro] = {}
    for file in sorted(resources.files("dialects").joinpath(engine, "macros").iterdir(), key=lambda f: f.name):
        if not file.name.endswith(".sql"):
            continue
        found = FORM.fullmatch(file.read_text(encoding="utf-8").strip())
        if found is None or found[1].removeprefix("pg.") != file.name.removesuffix(".sql"):
            raise ValueError(f"{engine}/macros/{file.name} does not hold CREATE MACRO of its name")
        out[found[1]] = Macro(found[1], tuple(re.findall(r"\w+", found[2])), found[3])
    return out


@functools.cache
def created(engine: str) -> tuple[str, ...]:
    """CREATE MACRO statements, each after those it uses."""
    macros = read(engine)
    uses = {
        name: {other for other in macros if re.search(rf"(?<!\w){re.escape(other)}\(", m.body)}
        for name, m in macros.items()
    }
    order = TopologicalSorter(uses).static_order()
    return tuple(f"CREATE OR REPLACE MACRO {n}({', '.join(macros[n].parameters)}) AS\n{macros[n].body}" for n in order)
