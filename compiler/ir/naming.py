"""Names that the compiler makes beside those of a view."""

from __future__ import annotations

from collections.abc import Callable, Collection


def companions(pattern: str, names: Collection[str], others: Collection[str] = ()) -> Callable[[str], str]:
    """A companion's name for each of `names`: `pattern` has it as {x}, and {n}, a number where a companion would
    meet one of them or one of `others` (the engines take names that differ in capitals alone for one)."""
    taken, n = {x.lower() for x in (*names, *others)}, 1

    def named(x: str) -> str:
        return pattern.format(x=x, n=n if n > 1 else "")

    while any(named(x).lower() in taken for x in names):
        n += 1
    return named


def fresh(name: str, taken: Collection[str]) -> str:
    """The name, numbered where it is taken."""
    others, out, n = {x.lower() for x in taken}, name, 1
    while out.lower() in others:
        n += 1
        out = f"{name}{n}"
    return out
