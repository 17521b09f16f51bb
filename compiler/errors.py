"""Errors a user can cause: message, detail and hint, in the manner of Postgres."""

from __future__ import annotations


class TidemarkError(Exception):
    """Base of everything a user can cause; `exit_code` is the command line's."""

    exit_code = 1

    def __init__(self, message: str, *, detail: str = "", hint: str = "", code: str = "error") -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.hint = hint
        self.code = code

    def __str__(self) -> str:
        lines = [self.message]
        if self.detail:
            lines.append(f"detail: {self.detail}")
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


class UnsupportedSql(TidemarkError):
    """The view is no function of its tables, or uses SQL that is not understood."""


class InvalidSql(TidemarkError):
    """The view's text is wrong: it does not parse, or names what is not there."""


class CompilerBug(Exception):
    """An invariant of the compiler does not hold; never the user's fault."""
