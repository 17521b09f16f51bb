"""compile and explain: what a view becomes, for people; neither needs a server when there is a schema file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from compiler.catalog import Catalog, read_schema
from compiler.declared import declared
from compiler.errors import TidemarkError
from compiler.ir import notation
from compiler.ir.relation import Aggregate, Relation, TopK, Window, walk
from compiler.maintain import change, kept
from compiler.maintain.choose import AUTO
from compiler.maintain.differentiate import program, rules_of
from compiler.maintain.facts import Facts
from compiler.maintain.fetch import fetched
from compiler.maintain.flush import flush
from compiler.maintain.kept import Kept, lagging
from compiler.maintain.paced import whole
from compiler.maintain.plan import ViewPlan
from compiler.maintain.program import Does, Program, Statement
from compiler.maintain.void import void
from connectors.postgres.connection import connect
from dialects import maintain
from dialects.dialect import Dialect
from pipelines import deployment as deployments
from pipelines import kinds
from pipelines.asking.mermaid import as_mermaid
from pipelines.asking.reading import reader
from pipelines.config import load_config, types_in
from pipelines.deployment import Deployment
from pipelines.engines import dialect
from pipelines.fetches import by_states, fetches
from pipelines.kinds import DIST, KINDS, LOCAL, ONE_MACHINE
from pipelines.pacing.telling import as_text as paces_as_text
from pipelines.pacing.telling import expected
from pipelines.project import Compiled, compile_project, read_views, refuse
from pipelines.source_catalog import source_catalog


def compiled(project: Path, names: list[str], schema: Path | None, engine: str | None) -> list[Compiled]:
    """The named views (all when none is named), compiled as `deploy` would; raises the errors among them."""
    strategy, default = AUTO, ONE_MACHINE.name
    deployed: Deployment | None = None
    if schema is not None:
        try:
            catalog: Catalog = declared(
                read_schema(schema.read_text(encoding="utf-8")), types_in(project), strict=False
            )
        except OSError as e:
            raise TidemarkError(f"cannot read {schema}", detail=str(e), code="no_file") from e
        views = read_views(project / "views")
    else:
        config = load_config(project)
        with connect(config.source.dsn) as conn:
            catalog = source_catalog(conn, config)
        views, strategy, default = read_views(config.views_path), config.defaults.strategy, config.defaults.engine
        deployed = deployments.load(config.warehouse_path)
    compile_project(views, catalog, default, strategy)
    by_name = {v.name: v for v in views}
    for n in names:
        if n not in by_name:
            raise TidemarkError(
                f'there is no view "{n}" in views/', code="undefined_view", hint=f"Views: {', '.join(sorted(by_name))}"
            )
    chosen = [by_name[n] for n in names] if names else views
    refuse(chosen)
    for v in chosen:
        _placed(v, engine, deployed)
        if v.location == LOCAL:
            by_states(v, v.dist, catalog, views, strategy)
    return chosen


def _placed(v: Compiled, asked: str | None, deployed: Deployment | None) -> None:
    """Where a view is: as asked, as deployed, or as its text says."""
    there = {d.name: d.engine for d in deployed.views} if deployed is not None else {}
    v.engine = asked or (there.get(v.name, ONE_MACHINE.name) if v.engine == kinds.AUTO else v.engine)
    if deployed is not None and KINDS[v.engine].executors and v.engine in deployed.tables:
        assert v.plan is not None
        v.location, v.dist = deployed.location, tuple(t for t in deployed.dist if t in v.plan.tables)


def dialect_of(v: Compiled) -> Dialect:
    """What a view's statements are written in."""
    return dialect(v.engine, v.location)


def batch_of(v: Compiled) -> Program:
    """The program of a batch that changes all tables of a view, every mirror being a large one."""
    assert v.plan is not None
    p = program([v.plan], v.plan.tables)
    return fetched(p, lambda table: True) if dialect_of(v).fetches else p


def statements(v: Compiled, by_keys: bool = True) -> list[Statement]:
    """Everything that is run for a view: create and fill its states, maintain them, read it; without `by_keys`,
    mirrors are read where rules read them."""
    assert v.plan is not None
    d = dialect_of(v)
    out = []
    for s in v.plan.states:
        out += [maintain.create_state(d, s), maintain.fill_state(d, s)]
    out += maintain.statements(d, batch_of(v) if by_keys else program([v.plan], v.plan.tables))
    out += maintain.statements(d, program([v.plan], frozenset(), frozenset(s.name for s in lagging(v.plan.states))))
    for p in takings(v.plan):
        out += maintain.statements(d, fetched(p, lambda table: True) if by_keys and d.fetches else p)
    sql = maintain.read_select(d, v.plan.top, v.plan.outputs)
    out.append(Statement(Does.READ, v.name, sql, maintain.reads(v.plan.top), "", "evaluated when the view is read"))
    return out


def takings(plan: ViewPlan) -> list[Program]:
    """The programs by which the states of a paced view take all that waits, in their order."""
    return [flush(plan.states, state, sources) for state, sources in whole(plan.states)]


def scripts(views: list[Compiled]) -> list[str]:
    """Each view's script; raises the errors of all whose SQL cannot be said."""
    out = []
    for v in views:
        try:
            out.append(script(v))
        except TidemarkError as e:
            v.error = e
    refuse(views)
    return out


def script(v: Compiled) -> str:
    """The statements as one commented script."""
    parts = [f"-- view {v.name} on {v.engine}{_where(v)}: {v.maintenance}"]
    for s in statements(v):
        head = f"-- {s.does} {s.target}: {s.rule}"
        if s.reads:
            head += f"\n-- reads {', '.join(s.reads)}"
        if s.writes:
            head += f"\n-- writes {s.writes}"
        parts.append(f"{head}\n{s.sql};")
    return "\n\n".join(parts) + "\n"


def _where(v: Compiled) -> str:
    return f" ({v.location})" if v.location else ""


def sizes(project: Path, view: str) -> dict[str, tuple[int, int]]:
    """Rows and bytes of a deployed view's states; nothing for one that is not deployed."""
    config = load_config(project)
    deployed = deployments.load(config.warehouse_path)
    if deployed is None or view not in {v.name for v in deployed.views}:
        return {}
    with reader(config, deployed) as r:
        return r.sizes(view)


def paces(project: Path, v: Compiled) -> dict[str, Any]:
    """What was planned for a view that may lag, and what came of it; nothing for others, and where it is not
    deployed."""
    config = load_config(project)
    deployed = deployments.load(config.warehouse_path)
    if v.plan is None or v.plan.lag is None or deployed is None or v.name not in {d.name for d in deployed.views}:
        return {}
    with reader(config, deployed) as r:
        return r.paces(v.name)


def explain(
    v: Compiled, held: dict[str, tuple[int, int]] | None = None, paced: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Algebra, rules, states and the why of a view; `held` are the sizes of its states, none where it is not
    deployed; `paced` is what is known of its paces."""
    assert v.plan is not None
    sizes_known, held = held is not None, held or {}
    p = batch_of(v)
    return {
        "view": v.name,
        "engine": v.engine,
        "location": v.location,
        "dist": list(v.dist),
        "fetches": fetches(v),
        "maintenance": v.maintenance,
        "strategy": v.strategy,
        "reason": v.reason,
        "notes": v.notes,
        "sizes_known": sizes_known,
        "tables": sorted(v.plan.tables),
        "columns": columns_of(v.plan.states),
        "rules": sorted(rules_of(v.plan)),
        "states": [
            {
                "name": s.name,
                "kind": kept.word(s),
                "key": list(kept.key_shown(s)),
                "rows": held[s.name][0] if s.name in held else None,
                "bytes": held[s.name][1] if s.name in held else None,
                "columns": [f"{c.name} {c.type}" for c in s.columns],
                "definition": notation.tree(s.definition),
            }
            for s in v.plan.states
        ],
        "steps": [
            {"name": s.name, "rule": s.rule, "void": void_where(s.relation), "algebra": notation.tree(s.relation)}
            for s in p.steps
        ]
        + [
            {
                "name": c.state.name,
                "rule": c.rule,
                "void": void_where(c.source),
                "algebra": f"{change.phrase(c)}\n" + notation.tree(c.source, "  "),
            }
            for c in p.changes
        ],
        "top": notation.tree(v.plan.top),
        "read_time": read_time(v.plan.top),
        "paces": expected(v.plan) | (paced or {}) if v.plan.lag is not None else None,
    }


def columns_of(states: list[Kept]) -> dict[str, list[str]]:
    """Of each table, the columns that some state reads: an UPDATE of others costs the view nothing."""
    out: dict[str, set[str]] = {}
    for s in states:
        for t, columns in Facts(s.definition).columns_used.items():
            out.setdefault(t, set()).update(columns)
    return {t: sorted(out[t]) for t in sorted(out)}


def void_where(r: Relation) -> str:
    """Which results of a batch that changes all tables leave nothing to do where they are empty."""
    sets = sorted(sorted(names) for names in void(r) if not any(n.startswith("delta.") for n in names))
    return ", or ".join(" and ".join(names) for names in sets if names)


def read_time(top: Relation) -> list[str]:
    """What is left to the reader, in words."""
    out = []
    for n in walk(top):
        if isinstance(n, Window):
            out.append(
                "a window over all rows is evaluated when the view is read, over the kept rows: any change could "
                "move every row, and reading is the only time all are needed"
            )
        if isinstance(n, TopK):
            out.append("ORDER BY … LIMIT is evaluated when the view is read, over the kept rows")
    if any(isinstance(n, Aggregate) for n in walk(top)):
        out.append("groups are added up when the view is read: those that are kept, and what waits to be taken")
    return out


def as_text(e: dict[str, Any]) -> str:
    """What `explain` found, as lines for a terminal. Sizes are in rows and bytes."""
    where = {LOCAL: " (Local: by DuckDB in the driver)", DIST: " (Dist: by the executors)"}
    on = e["engine"] + where.get(e["location"], "")
    lines = [f"view {e['view']}: {e['maintenance']} on {on}, strategy {e['strategy']}"]
    if e["reason"]:
        lines.append(f"why: {e['reason']['message']}" + (f" {e['reason']['hint']}" if e["reason"]["hint"] else ""))
    lines += [f"note: {n}" for n in e["notes"]]
    read = [f"{t} ({', '.join(e['columns'].get(t, ()))})" for t in e["tables"]]
    lines.append(f"reads: {', '.join(read) or 'no table'}; rules: {', '.join(e['rules']) or 'none'}")
    if e["fetches"]:
        lines.append(f"Dist: {', '.join(e['dist'])}")
        lines.append(
            f"a batch that updates all tables: {e['fetches']} fetches, on a cluster a Spark job of one stage each"
        )
    for s in e["states"]:
        key = f" by ({', '.join(s['key'])})" if s["key"] else ""
        size = (
            f"{s['rows']:,} rows, {s['bytes']:,} bytes"
            if s["rows"] is not None
            else ("not deployed" if e["sizes_known"] else "size not known")
        )
        lines += [
            "",
            f"state {s['name']}: {s['kind']}{key}, {size}",
            f"  columns: {', '.join(s['columns'])}",
            _indent(s["definition"]),
        ]
    for s in e["steps"]:
        lines += ["", f"step {s['name']}: {s['rule']}"]
        lines += [f"  nothing to do where these are empty: {s['void']}"] if s["void"] else []
        lines.append(_indent(s["algebra"]))
    lines += paces_as_text(e["paces"]) if e["paces"] is not None else []
    lines += ["", "read:", _indent(e["top"])]
    lines += [f"  {t}" for t in e["read_time"]]
    return "\n".join(lines)


def _indent(text: str) -> str:
    return "\n".join("  " + line for line in text.split("\n"))


def render(
    v: Compiled,
    fmt: str,
    kept: dict[str, tuple[int, int]] | None = None,
    paced: dict[str, Any] | None = None,
) -> str:
    """How a compiled view is maintained, as text, json or mermaid; `kept` has rows and bytes of deployed states."""
    assert v.plan is not None
    e = explain(v, kept, paced)
    return (
        json.dumps(e, indent=1, ensure_ascii=False)
        if fmt == "json"
        else as_mermaid(v.plan)
        if fmt == "mermaid"
        else as_text(e)
    )
