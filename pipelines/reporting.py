"""Errors that a user can cause, as message, detail and hint on stderr, and an exit code."""

from __future__ import annotations

import re
import traceback
from typing import Any

import click
import duckdb
import psycopg

from compiler.errors import TidemarkError

SECRET = re.compile(r"(://[^:/@\s]*:)[^@\s]*@|(\bpassword\s*=\s*)('[^']*'|\S+)", re.I)


def redacted(text: str) -> str:
    """Without the passwords of URIs and connection strings."""
    return SECRET.sub(lambda m: f"{m[1]}***@" if m[1] else f"{m[2]}***", text)


class Reporting(click.Group):
    """Turns errors a user can cause into message, detail and hint, and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command. What a user can cause is told on stderr, and ends with its exit code."""
        try:
            return super().invoke(ctx)
        except TidemarkError as e:
            if ctx.params.get("debug"):
                click.echo(redacted(traceback.format_exc()), err=True)
            click.echo(e.report(), err=True)
            ctx.exit(e.exit_code)
        except KeyboardInterrupt:
            ctx.exit(130)
        except BrokenPipeError:
            raise  # whoever read the output has gone; click ends quietly
        except duckdb.Error as e:
            if ctx.params.get("debug"):
                click.echo(redacted(traceback.format_exc()), err=True)
            click.echo(
                f"error: the warehouse's DuckDB refused\ndetail: {str(e).strip().splitlines()[0]}\nhint: Is the disk "
                f"full? "
                "Nothing that is not whole is kept: run the command again when it is mended.",
                err=True,
            )
            ctx.exit(1)
        except (OSError, UnicodeError, psycopg.Error) as e:
            if ctx.params.get("debug"):
                click.echo(redacted(traceback.format_exc()), err=True)
            where = f" {e.filename}" if isinstance(e, OSError) and e.filename else ""
            what = (
                "a file cannot be used"
                if isinstance(e, OSError)
                else "a file is not text in UTF-8"
                if isinstance(e, UnicodeError)
                else ("the source refused a statement")
            )
            click.echo(
                f"error: {what}{where}\ndetail: {str(e).strip().splitlines()[0]}\nhint: tidemark --debug shows where.",
                err=True,
            )
            ctx.exit(1)
