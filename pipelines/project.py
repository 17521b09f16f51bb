"""A project: the configuration, the views in views/*.sql, and what each compiles to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sqlglot import exp

from compiler.catalog import Catalog
from compiler.errors import InvalidSql, Place, Refused, TidemarkError, UnsupportedSql
from compiler.maintain.choose import AUTO, Maintenance, maintenance_of, reason_of
from compiler.maintain.lag import Lag, parse_lag
from compiler.maintain.plan import ViewPlan
from compiler.maintain.strategy import STRATEGIES, paces, partial
from compiler.parse import ViewText, locate, parse_view
from compiler.view import compile_view
from pipelines import kinds
from pipelines.config import parse_size
from pipelines.kinds import KINDS, ONE_MACHINE


@dataclass
class Compiled:
    """A view's outcome: a plan, or the error that refused it."""

    name: str
    text: ViewText | None
    plan: ViewPlan | None = None
    error: TidemarkError | None = None
    engine: str = ONE_MACHINE.name
    location: str = ""  # on Spark: where it is kept, '' where that is not decided
    dist: tuple[str, ...] = ()  # where that is the driver: the tables whose mirrors are not there
    strategy: str = ""  # the one that was taken
    maintenance: str = ""
    reason: dict[str, str] | None = None
    notes: list[str] = field(default_factory=list)
    file: str = ""

    def to_json(self) -> dict[str, object]:
        """The record `deploy --json` prints."""
        if self.error is not None:
            e = self.error
            return {
                "view": self.name,
                "accepted": False,
                "engine": None,
                "maintenance": None,
                "strategy": None,
                "reason": {
                    "code": e.code,
                    "message": e.message + (f": {e.detail}" if e.detail else ""),
                    "hint": e.hint,
                    "where": str(e.place or self.file),
                },
            }
        return {
            "view": self.name,
            "accepted": True,
            "engine": self.engine,
            "maintenance": self.maintenance,
            "strategy": self.strategy,
            "reason": self.reason,
        }


def read_views(path: Path) -> list[Compiled]:
    """Every views/*.sql, by file name; one that does not parse carries its error."""
    if not path.is_dir():
        raise TidemarkError(f"there is no folder {path}", hint="Run: tidemark init", code="no_project")
    out: list[Compiled] = []
    seen: dict[str, tuple[str, Path]] = {}
    for file in sorted(path.glob("*.sql")):
        shown = f"{path.name}/{file.name}"
        try:
            written = file.read_bytes().decode("utf-8-sig")  # as it is: a literal may have any newlines
        except UnicodeDecodeError as e:
            error = InvalidSql(f'view file "{shown}" is not text in UTF-8', detail=str(e), code="not_text")
            out.append(Compiled(file.stem, None, error=error, file=shown))
            continue
        try:
            text = parse_view(written, file.name)
        except TidemarkError as e:
            out.append(Compiled(file.stem, None, error=locate(e, shown, written), file=shown))
            continue
        if (other := seen.get(text.name.lower())) is not None:
            name, where = other
            what = (
                f'view "{name}" is defined twice'
                if name == text.name
                else f'views "{name}" and "{text.name}" differ in capitals alone'
            )
            e2 = InvalidSql(
                what,
                detail=f"In {where.name} and {file.name}.",
                code="duplicate_view",
                hint="" if name == text.name else "Rename one: the engines take them for one name.",
            )
            out.append(Compiled(text.name, text, error=locate(e2, shown, written), file=shown))
            continue
        seen[text.name.lower()] = (text.name, file)
        out.append(Compiled(text.name, text, file=shown))
    return out


MEMORY = "256MB"  # of a partial view that does not say
RESERVED = "refreshes"
OPTIONS = ("engine", "final_work", "keep_mirrors", "key", "memory", "refresh", "strategy", "target_lag")


def compile_project(
    views: list[Compiled],
    catalog: Catalog,
    default_engine: str = ONE_MACHINE.name,
    default_strategy: str = AUTO,
    accepted: bool = False,
) -> list[Compiled]:
    """Compile each view that parsed; errors stay with their view.

    Views that were `accepted` before keep their strategy, and how they are maintained is not found out again.
    """
    queries: dict[str, exp.Expr] = {v.name: v.text.query for v in views if v.text is not None and v.error is None}
    for v in views:
        if v.text is None or v.error is not None:
            continue
        try:
            _compile_one(v, catalog, queries, default_engine, default_strategy)
            if not accepted:
                judge(v)
        except TidemarkError as e:
            v.error = _of_view(v, e)
        except RecursionError:
            v.error = UnsupportedSql(f'view "{v.name}" is nested too deeply', code="too_deep")
        except Exception as e:  # a bug of the compiler costs one view, not all of them
            v.error = UnsupportedSql(
                f'view "{v.name}" could not be compiled',
                code="compiler_bug",
                detail=f"{type(e).__name__}: {e}"[:300],
                hint="This is a bug of Tidemark; please report it.",
            )
    return views


def _of_view(v: Compiled, e: TidemarkError) -> TidemarkError:
    """The error with its place; one of another view, which this one reads, is told where that view is."""
    assert v.text is not None
    if e.view not in ("", v.name):
        e = type(e)(f'view "{e.view}", which it reads, is refused', detail=e.message, code=e.code)
    return locate(e, v.file, v.text.text) if v.file else e


def refuse(views: list[Compiled]) -> None:
    """Raises the error of the view that is refused, or those of all that are."""
    errors = []
    for v in views:
        if v.error is not None:
            for e in (v.error, *v.error.others):
                e.view, e.place = v.name, e.place or (Place(v.file) if v.file else None)
            errors.append(v.error)
    if errors:
        raise errors[0] if len(errors) == 1 else Refused(errors)


def _compile_one(
    v: Compiled, catalog: Catalog, queries: dict[str, exp.Expr], default_engine: str, default_strategy: str
) -> None:
    assert v.text is not None
    if v.name.lower() == RESERVED:
        raise InvalidSql(
            f'a view cannot be called "{v.name}"',
            detail=f"tidemark.{RESERVED} tells when views that may lag were finished.",
            code="reserved_name",
            hint="Give it another name.",
        )
    unknown = set(v.text.options) - set(OPTIONS)
    if unknown:
        raise InvalidSql(
            f'view "{v.name}" has an unknown option "{sorted(unknown)[0]}"',
            code="unknown_option",
            hint=f"Known options: {', '.join(OPTIONS)}.",
        )
    engine = v.text.options.get("engine", default_engine)
    if engine not in (kinds.AUTO, *KINDS):
        raise InvalidSql(
            f'view "{v.name}" names an unknown engine "{engine}"',
            code="unknown_option",
            hint=f"Engines: {', '.join((kinds.AUTO, *KINDS))}.",
        )
    refresh = v.text.options.get("refresh", "")
    if refresh not in ("", "auto", "incremental strict"):
        raise InvalidSql(
            f'view "{v.name}" has an unknown refresh "{refresh}"',
            code="unknown_option",
            hint="Known: auto, incremental strict.",
        )
    default = AUTO if "target_lag" in v.text.options else default_strategy
    strategy = v.strategy or v.text.options.get("strategy", default)
    if strategy not in (AUTO, *STRATEGIES):
        raise InvalidSql(
            f'view "{v.name}" names an unknown strategy "{strategy}"',
            code="unknown_option",
            hint=f"Strategies: {', '.join((AUTO, *STRATEGIES))}.",
        )
    v.engine = engine
    v.plan = over(v, catalog, queries, strategy)
    v.strategy = v.plan.strategy
    v.notes += [*v.plan.notes, *v.plan.warnings]


def over(v: Compiled, catalog: Catalog, queries: Mapping[str, exp.Expr], strategy: str) -> ViewPlan:
    """The view as its options have it, by this strategy, over tables of this catalog. Raises TidemarkError."""
    assert v.text is not None
    key, mirrors = _key(v, strategy), _mirrors(v)
    return compile_view(v.name, v.text.query, catalog, queries, strategy, key, _lag(v, strategy), mirrors)


def _key(v: Compiled, strategy: str) -> tuple[str, ...]:
    """The columns by which a partial view is asked for."""
    assert v.text is not None
    memory_of(v)
    given = [o for o in ("key", "memory", "keep_mirrors") if o in v.text.options]
    if strategy != partial.NAME and given:
        raise InvalidSql(
            f'view "{v.name}" says {given[0]}, and is not partial',
            hint="WITH (strategy = 'partial', key = '…', memory = '256 MB') keeps the keys that are asked for.",
            code="unknown_option",
        )
    return tuple(k for k in map(str.strip, v.text.options.get("key", "").split(",")) if k)


def _mirrors(v: Compiled) -> bool:
    """Whether a partial view reads the rows of its keys from mirrors."""
    assert v.text is not None
    said = v.text.options.get("keep_mirrors", "true").lower()
    if said not in ("true", "false"):
        raise InvalidSql(
            f"view \"{v.name}\": keep_mirrors = '{said}'",
            hint="keep_mirrors = true: keys are filled from mirrors; false: from the source, of which no copy is kept.",
            code="unknown_option",
        )
    return said == "true"


def _lag(v: Compiled, strategy: str) -> Lag | None:
    """How far a paced view may lag; None for others."""
    assert v.text is not None
    options = v.text.options
    if "target_lag" not in options:
        if "final_work" in options:
            raise InvalidSql(
                f'view "{v.name}" says final_work, and no target_lag',
                hint="WITH (target_lag = '1 h', final_work = 0.05): what may be left to do of a view that lags.",
                code="unknown_option",
            )
        return None
    lag = parse_lag(v.name, options["target_lag"], options.get("final_work", "1"))
    if strategy in (AUTO, paces.NAME):
        return lag
    raise InvalidSql(
        f"view \"{v.name}\" says target_lag, and strategy = '{strategy}'",
        detail=f"A view that may lag has the strategy {paces.NAME}.",
        hint="Leave one of the two out.",
        code="unknown_option",
    )


def memory_of(v: Compiled) -> int:
    """Bytes that the rows of a partial view may have, before keys leave that are asked for rarely."""
    assert v.text is not None
    text = v.text.options.get("memory", MEMORY)
    try:
        return parse_size(text)
    except ValueError as e:
        raise InvalidSql(f'view "{v.name}": memory = {text!r}', detail=f"{e}.", code="unknown_option") from e


def judge(v: Compiled) -> None:
    """Say how a view is maintained, and why. Raises UnsupportedSql where that is not what it asks for."""
    assert v.text is not None and v.plan is not None
    maintenance = maintenance_of(v.plan)
    v.maintenance, v.reason = maintenance.value, reason_of(v.plan, maintenance)
    if v.text.options.get("refresh") == "incremental strict" and maintenance is Maintenance.RECOMPUTE:
        assert v.reason is not None
        raise UnsupportedSql(
            f"view \"{v.name}\" would be recomputed, and it says refresh = 'incremental strict'",
            detail=v.reason["message"],
            hint=v.reason["hint"],
            code=v.reason["code"],
        )
