"""The lists of expressions: one file a family, one expression a line, under a line that declares the arguments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "expressions"


@dataclass(frozen=True)
class Expression:
    """SQL over columns a, b, c whose kinds (see arguments.EDGES) are `kinds`."""

    family: str
    kinds: tuple[str, ...]
    sql: str

    @property
    def signature(self) -> str:
        return ", ".join(f"{n} {k}" for n, k in zip("abc", self.kinds, strict=False))


def expressions() -> list[Expression]:
    out = []
    for path in sorted(FOLDER.glob("*.sql")):
        kinds: tuple[str, ...] = ()
        for line in path.read_text().splitlines():
            if line.startswith("-- "):
                kinds = tuple(_kind(part) for part in _split(line[3:]))
            elif line.strip():
                out.append(Expression(path.stem, kinds, line.strip()))
    return out


def _split(declaration: str) -> list[str]:
    """`a numeric(12,4), b text`: commas inside a type do not part arguments."""
    return declaration.replace(", ", "\n").splitlines()


def _kind(part: str) -> str:
    return part.split(" ", 1)[1]
