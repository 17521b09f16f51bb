"""Errors a user can cause: message, detail and hint, in the manner of Postgres."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file, counted from 1, and its line; without them the file alone."""

    file: str
    line: int = 0
    column: int = 0
    text: str = ""

    @classmethod
    def of(cls, file: str, text: str, at: int) -> Place:
        """The place of the character with index `at`."""
        start = text.rfind("\n", 0, at) + 1
        end = text.find("\n", start)
        return cls(file, text.count("\n", 0, start) + 1, at - start + 1, text[start : end if end >= 0 else len(text)])

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file

    def shown(self) -> str:
        """The line and a caret below the place, as psql shows them; of a long line the part around it."""
        head, before = f"LINE {self.line}: ", self.text[: self.column - 1].replace("\t", " ")
        line = before + self.text[self.column - 1 :].replace("\t", " ").rstrip()
        if cut := max(0, len(before) - 60) if len(line) > 100 else 0:
            head, before, line = head + "...", before[cut:], line[cut:]
        line = line if len(line) <= 110 else line[:100] + "..."
        return f"{head}{line}\n{' ' * (len(head) + len(before))}^"


class TidemarkError(Exception):
    """Base of everything a user can cause; `exit_code` is the command line's. Of a view's error `view` is its name,
    `at` the index in the view's text, where it is known, and `place` the same for people."""

    exit_code = 1

    def __init__(self, message: str, *, detail: str = "", hint: str = "", code: str = "error") -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.hint = hint
        self.code = code
        self.view = ""
        self.at: int | None = None
        self.place: Place | None = None
        self.others: list[TidemarkError] = []  # of the same view

    def __str__(self) -> str:
        lines = [f"{self.place}: {self.message}"] if self.place else [self.message]
        if self.place and self.place.line:
            lines.append(self.place.shown())
        if self.detail:
            lines.append(f"detail: {self.detail}")
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)

    def report(self) -> str:
        """As the command line tells it, with all that is wrong with the view."""
        view = f'view "{self.view}": ' if self.view else ""
        return "\n".join(f"error: {view}{e}" for e in (self, *self.others))


class UnsupportedSql(TidemarkError):
    """The view is no function of its tables, or uses SQL that is not understood."""


class InvalidSql(TidemarkError):
    """The view's text is wrong: it does not parse, or names what is not there."""


class Refused(TidemarkError):
    """Several views are refused: the error of each."""

    def __init__(self, errors: list[TidemarkError]) -> None:
        super().__init__("\n".join(str(e) for e in errors), code=errors[0].code)
        self.errors = errors
        self.view = errors[0].view

    def report(self) -> str:
        return "\n".join(e.report() for e in self.errors)


class CompilerBug(Exception):
    """An invariant of the compiler does not hold; never the user's fault."""
