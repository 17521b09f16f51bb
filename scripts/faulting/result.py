"""What was counted, per kind of fault."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Row:
    """One kind of fault: what was done, what went wrong, and what else there is to say."""

    kind: str
    injected: int = 0
    committed: int = 0
    lost: int = 0
    doubled: int = 0
    torn: int = 0
    fresh: int = 0
    polls: int = 0
    asked: int = 0  # times that status was asked
    failures: list[str] = field(default_factory=list)
    unreached: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def red(self) -> bool:
        return bool(self.lost or self.doubled or self.torn or self.fresh or self.failures)

    def fail(self, what: str) -> None:
        self.failures.append(what)

    def __add__(self, other: Row) -> Row:
        return Row(
            "total",
            self.injected + other.injected,
            self.committed + other.committed,
            self.lost + other.lost,
            self.doubled + other.doubled,
            self.torn + other.torn,
            self.fresh + other.fresh,
            self.polls + other.polls,
            self.asked + other.asked,
            self.failures + other.failures,
            self.unreached + other.unreached,
        )


HEAD = (
    "fault",
    "injected",
    "rows committed",
    "lost",
    "doubled",
    "half shown",
    "called fresh",
    "polls",
    "status asked",
    "failed otherwise",
)


def cells(r: Row) -> list[str]:
    numbers = (r.injected, r.committed, r.lost, r.doubled, r.torn, r.fresh, r.polls, r.asked, len(r.failures))
    return [r.kind, *(f"{n:,}" for n in numbers)]


def total(rows: list[Row]) -> Row:
    out = Row("total")
    for r in rows:
        out = out + r
    return out


def table(rows: list[Row]) -> list[str]:
    """A table in Markdown, with its total."""
    body = [cells(r) for r in [*rows, total(rows)]]
    body[-1] = [f"**{c}**" for c in body[-1]]
    return [
        "| " + " | ".join(HEAD) + " |",
        "|" + "|".join(["---", *["--:"] * (len(HEAD) - 1)]) + "|",
        *("| " + " | ".join(b) + " |" for b in body),
    ]
