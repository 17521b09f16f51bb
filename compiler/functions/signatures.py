"""Whether a call has a function, by the types of its arguments, as Postgres finds it in pg_proc.

`signatures.tsv` has a row for each function of a name that views may call, `implicit_casts.tsv` the casts that Postgres
makes of itself; a test compares both with a server.
"""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass
from enum import Enum
from importlib import resources

from compiler.ir.types import Type

ANY = frozenset(("any", "anyelement", "anycompatible", "record"))
NOT_ARRAYS = frozenset(("anynonarray", "anycompatiblenonarray"))
ARRAYS = frozenset(("anyarray", "anycompatiblearray"))
EQUAL = frozenset(("anyelement", "anyarray", "anynonarray"))  # of one call these stand for one type
COMMON = frozenset(("anycompatible", "anycompatiblearray", "anycompatiblenonarray"))  # and these for one with casts
ADAPTING = frozenset(("unknown", "opaque", "record"))
CATALOG = {"blanks": "bpchar"}  # names of types of ours that the catalog has another one for


OF_A_SESSION = frozenset(
    ("current_setting", "inet_client_addr", "pg_backend_pid", "pg_current_xact_id", "txid_current")
)
NEWER = frozenset(("random_normal", "uuid_generate_v4", "uuidv4", "uuidv7"))  # volatile, of extensions and new servers


class Routine(Enum):
    FUNCTION = "function"
    ROWS = "rows"
    AGGREGATE = "aggregate"
    ORDERED = "ordered"  # WITHIN GROUP
    WINDOW = "window"


@dataclass(frozen=True)
class Signature:
    """A function: what its arguments are, how many of the last may be left out, and whether the last repeats."""

    name: str
    routine: Routine
    arguments: tuple[str, ...]
    defaults: int
    variadic: bool
    volatility: str
    result: str

    def takes(self, given: list[Type]) -> bool:
        """Whether it can be called with arguments of these types."""
        wanted = self.arguments
        if self.variadic and len(given) >= len(wanted):
            last = wanted[-1].removeprefix("_")
            spread = {"anyarray": "anyelement", "anycompatiblearray": "anycompatible"}.get(last, last)
            wanted = (*wanted[:-1], *[spread] * (len(given) - len(wanted) + 1))
        if not len(wanted) - self.defaults <= len(given) <= len(wanted):
            return False
        pairs = list(zip(given, wanted, strict=False))
        return all(coerces(t, w) for t, w in pairs) and agree(pairs)


def found(name: str, given: list[Type], within: bool = False) -> bool | None:
    """Whether a function of this name takes arguments of these types; None where nothing is known of the name.

    `within`: it is called with WITHIN GROUP, whose columns are the last of the arguments."""
    candidates = signatures().get(name)
    if candidates is None:
        return None
    return any((s.routine is Routine.ORDERED) == within and s.takes(given) for s in candidates)


def resolved(name: str, given: list[Type]) -> Signature | None:
    """The function that is called, as Postgres finds it: of those that take the arguments, the one of which most are
    just the types given; an untyped literal is text where one of them takes that. None where none takes them."""
    some = [s for s in signatures().get(name, []) if s.routine is Routine.FUNCTION and s.takes(given)]

    def exact(s: Signature) -> tuple[int, int]:
        pairs = list(zip(given, s.arguments, strict=False))
        return (
            sum(CATALOG.get(t.name, t.name) == w for t, w in pairs),
            sum(t.name == "unknown" and w == "text" for t, w in pairs),
        )

    return max(some, key=exact, default=None)


def volatile(name: str) -> bool:
    """Whether no two calls need agree: Postgres says so, or the value is a session's own."""
    rows = signatures().get(name, [])
    return name in OF_A_SESSION or name in NEWER or bool(rows) and all(s.volatility == "volatile" for s in rows)


def agree(pairs: list[tuple[Type, str]]) -> bool:
    """Whether polymorphic arguments stand for one type: anyelement and its kin for the same, which one of them has to
    tell, anycompatible and its kin for one that all are cast to."""
    equal, common = ([element(t, w) for t, w in pairs if w in of] for of in (EQUAL, COMMON))
    if equal and all(t.name == "unknown" for t, w in pairs if w in EQUAL):
        return False
    return len({named(t) for t in equal if t is not None}) <= 1 and meets([t for t in common if t is not None])


def element(given: Type, wanted: str) -> Type | None:
    """What a polymorphic argument stands for; None where it adapts to the others."""
    t = given.element if given.name == "array" and wanted in ARRAYS else given
    return None if t is None or t.name in ADAPTING else t


def meets(given: list[Type]) -> bool:
    """Whether one of the types is what all others are cast to."""
    names = {named(t) for t in given}
    if {"time", "interval"} <= names:  # a cast from one kind of types to another
        return False
    return not names or any(all(named(t) == w or coerces(t, w) for t in given) for w in names)


def named(t: Type) -> str:
    """A type's name in the catalog; an enum's are its labels."""
    if t.name == "array":
        return f"_{named(t.element)}" if t.element is not None else "_"
    return repr(t.labels) if t.name == "enum" else CATALOG.get(t.name, t.name)


def coerces(given: Type, wanted: str) -> bool:
    """Whether Postgres makes a value of one type an argument of another without being asked to."""
    if given.name in ADAPTING or wanted in ANY:
        return True
    if given.name == "array":
        if wanted in ARRAYS:
            return True
        return wanted.startswith("_") and (given.element is None or coerces(given.element, wanted[1:]))
    if given.name == "enum":
        return wanted == "anyenum" or wanted in NOT_ARRAYS
    name = CATALOG.get(given.name, given.name)
    return wanted in NOT_ARRAYS or wanted == name or wanted in implicit().get(name, ())


@functools.cache
def signatures() -> dict[str, list[Signature]]:
    """Functions by name."""
    out: dict[str, list[Signature]] = {}
    for r in _rows("signatures.tsv"):
        arguments = tuple(a for a in r["arguments"].split(",") if a)
        s = Signature(
            r["name"],
            Routine(r["kind"]),
            arguments,
            int(r["defaults"]),
            bool(r["variadic"]),
            r["volatility"],
            r["result"],
        )
        out.setdefault(s.name, []).append(s)
    return out


@functools.cache
def implicit() -> dict[str, frozenset[str]]:
    """The types that a type is cast to without being asked to."""
    return {r["source"]: frozenset(r["targets"].split(",")) for r in _rows("implicit_casts.tsv")}


def _rows(file: str) -> list[dict[str, str]]:
    text = resources.files("compiler.functions").joinpath(file).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t"))
