"""Where a view may differ from Postgres although it is accepted: what deploy warns of. docs/functions.md has the cases."""

from __future__ import annotations

from collections.abc import Callable

from compiler.ir.parts import scalars
from compiler.ir.relation import Relation
from compiler.ir.relation import walk as relations
from compiler.ir.scalar import Call, walk


def _parts_of_json(e: Call) -> bool:
    parts = e.fn in ("json_get", "json_text", "json_step") and e.args[0].type.name == "json"
    return parts or e.fn == "cast" and e.args[0].type.name == "json" and e.type.name == "jsonb"


KNOWN: tuple[tuple[Callable[[Call], bool], str], ...] = (
    (_parts_of_json, "it reads parts of json (not jsonb): blanks within a part are not kept, and of equal keys the first is read"),
)


def differences(*roots: Relation) -> list[str]:
    """The warnings that these relations deserve, each once."""
    calls = [s for r in roots for n in relations(r) for e in scalars(n) for s in walk(e) if isinstance(s, Call)]
    return [text for test, text in KNOWN if any(map(test, calls))]
