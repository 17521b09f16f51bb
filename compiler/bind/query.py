"""A query's syntax to IR: WITH, set operations, VALUES, and SELECT through `select`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from compiler.bind.clause import Clause, begins
from compiler.bind.coerce import unify, without_blanks
from compiler.bind.expressions import Expressions
from compiler.bind.generated import mentioned, with_generated
from compiler.bind.join_tree import ident, no_unknown
from compiler.bind.names import Names
from compiler.bind.ordering import cut, limits, order_by
from compiler.bind.scope import Bound, Env, Scope, Source
from compiler.bind.select import bind_select
from compiler.bind.set_operations import set_operation
from compiler.catalog import Catalog
from compiler.errors import InvalidSql, TidemarkError, UnsupportedSql
from compiler.ir import types
from compiler.ir.relation import (
    Fixpoint,
    Project,
    Recur,
    Relation,
    Scan,
    Union,
    Values,
)
from compiler.ir.scalar import Col, Outer, cast
from compiler.ir.scalar import walk as walk_scalar
from compiler.ir.subquery import Sub
from compiler.ir.types import TEXT, innermost


@dataclass
class Binder(Names):
    """Binds one view. Names it makes up are unique within the view and depend on nothing but its text."""

    catalog: Catalog
    views: Mapping[str, exp.Expr] = field(default_factory=dict)
    path: tuple[str, ...] = ()  # views being bound, outermost first
    tables: set[str] = field(default_factory=set)
    reads_views: set[str] = field(default_factory=set)
    mentioned: set[str] | None = None  # names in the text of the view; None: any may be asked for

    def __post_init__(self) -> None:
        self.enums = {
            n: innermost(c.type).labels
            for tb in self.catalog.tables.values()
            for c in tb.columns
            if innermost(c.type).name == "enum"
            for n in (c.source_type.removesuffix("[]"), innermost(c.type).title.strip('"'))
        }

    def view(self, query: exp.Expr) -> Bound:
        """The whole view, its output columns renamed to what the user called them."""
        self.mentioned = mentioned(query)
        bound = self.query(query, Env(self.catalog), None)
        if not bound.outputs:
            raise UnsupportedSql(
                "a view without columns is not supported",
                code="unsupported_syntax",
                detail="Postgres gives rows of no columns.",
                hint="Name one: SELECT 1 AS one FROM …, or count the rows.",
            )
        names = query.args.get("_columns") or []
        outputs = [(names[i] if i < len(names) else n, c) for i, (n, c) in enumerate(bound.outputs)]
        seen: set[str] = set()
        for n, _ in outputs:
            if n.lower() in seen:
                raise InvalidSql(
                    f'column "{n}" specified more than once',
                    code="duplicate_column",
                    hint="Give each column of a view a name of its own with AS.",
                    detail="Engines compare column names without regard to case."
                    if n not in seen and n != n.lower()
                    else "",
                )
            seen.add(n.lower())
        return Bound(bound.rel, [(n, Col(c.name, TEXT if c.type.name == "unknown" else c.type)) for n, c in outputs])

    def query(self, e: exp.Expr, env: Env, parent: Scope | None) -> Bound:
        """The relation of a query with its output names: WITH, SELECT, set operations, VALUES, a table. `parent` is
        what LATERAL and subqueries may look at. Raises UnsupportedSql for any other statement."""
        if isinstance(e, (exp.Subquery, exp.Paren)) and not e.args.get("alias"):
            inner = self.query(e.this, env, parent)
            if e.args.get("order") or e.args.get("limit") or e.args.get("offset"):
                return self.ordered(e, inner, env, parent)
            return inner
        if (w := e.args.get("with_") or e.args.get("with")) is not None:
            env = self.ctes(w, env, parent)
        if isinstance(e, exp.Select):
            return bind_select(self, e, env, parent)
        if isinstance(e, exp.SetOperation):
            return self.ordered(
                e,
                set_operation(self, e, self.query(e.left, env, parent), self.query(e.right, env, parent)),
                env,
                parent,
            )
        if isinstance(e, exp.Values):
            return self.values(e, env, parent)
        if isinstance(e, exp.Table):
            return self.named(e, env)
        raise UnsupportedSql(f"{e.key.upper()} is not supported as a query", code="unsupported_syntax")

    # -- WITH

    def ctes(self, w: exp.With, env: Env, parent: Scope | None) -> Env:
        """The names in sight below a WITH; each query sees those before it. Raises UnsupportedSql for SEARCH and
        CYCLE."""
        ctes = dict(env.ctes)
        for cte in w.expressions:
            name = ident(cte.args["alias"].this)
            columns = [ident(c) for c in cte.args["alias"].args.get("columns") or []]
            inner = replace(env, ctes=dict(ctes))
            if w.args.get("search") is not None or cte.args.get("search") is not None:
                raise UnsupportedSql(
                    "SEARCH and CYCLE are not supported",
                    code="unsupported_syntax",
                    hint="Carry the path in an array of the recursive query.",
                )
            if w.args.get("recursive") and _refers(cte.this, name):
                ctes[name] = self.recursive(name, columns, cte.this, inner, parent)
                continue
            bound = self.query(cte.this, inner, parent)
            ctes[name] = Bound(bound.rel, _renamed(bound.outputs, columns, name), bound.ordered)
        return replace(env, ctes=ctes)

    def recursive(self, name: str, columns: list[str], e: exp.Expr, env: Env, parent: Scope | None) -> Bound:
        """WITH RECURSIVE as a fixpoint. The step is bound again where a round's numbers outgrow the first's type.
        Raises UnsupportedSql for other forms than base UNION [ALL] step, InvalidSql where the step's types do not
        fit."""
        while isinstance(e, exp.Subquery):
            e = e.this
        if not isinstance(e, exp.Union) or e.args.get("order") or e.args.get("limit"):
            raise UnsupportedSql(
                f'recursive query "{name}" is not of the form base UNION [ALL] step', code="unsupported_recursion"
            )
        base = self.query(e.left, env, parent)
        outputs = _renamed(base.outputs, columns, name)
        distinct = bool(e.args.get("distinct"))  # equal rows are found as the engine finds them
        start = Project(
            base.rel,
            tuple((self.fresh(n), without_blanks(no_unknown(c)) if distinct else no_unknown(c)) for n, c in outputs),
        )
        label = self.fresh(name)

        def stepped() -> Bound:
            rec = Recur(label, start.schema)
            env.ctes[name] = Bound(rec, [(n, c) for (n, _), c in zip(outputs, rec.schema, strict=True)])
            return self.query(e.right, env, parent)

        step = stepped()
        wide = [_wide_enough(c.type, got.type) for c, (_, got) in zip(start.schema, step.outputs, strict=False)]
        if wide != [c.type for c in start.schema]:  # a number that grows with every round
            start = Project(start, tuple((c.name, cast(c, t)) for c, t in zip(start.schema, wide, strict=True)))
            step = stepped()
        exprs = []
        for (_, c), want in zip(step.outputs, start.schema, strict=True):
            if not _castable(c.type, want.type):
                raise InvalidSql(
                    f'recursive query "{name}" column "{want.name}" has type {want.type} in the '
                    f"non-recursive term but type {c.type} overall",
                    code="datatype_mismatch",
                    hint="Cast the output of the non-recursive term.",
                )
            exprs.append((want.name, cast(c, want.type)))
        fix = Fixpoint(label, start, Project(step.rel, tuple(exprs)), distinct)
        return Bound(fix, [(n, c) for (n, _), c in zip(outputs, fix.schema, strict=True)])

    # -- VALUES

    def values(self, e: exp.Values, env: Env, parent: Scope | None) -> Bound:
        """VALUES as a relation, a column's rows of one type. Raises InvalidSql where the rows are not of one length."""
        binder = Expressions(self, lambda q, s: self.subquery(q, env, s))
        clause = Clause(Scope(parent=parent), "VALUES")
        rows = [
            [binder.bind(x, clause) for x in (t.expressions if isinstance(t, exp.Tuple) else [t.unnest()])]
            for t in e.expressions
        ]
        if len({len(r) for r in rows}) != 1:
            raise InvalidSql("VALUES lists must all be the same length", code="syntax_error")
        by_column = [unify([r[i] for r in rows], "VALUES") for i in range(len(rows[0]))]
        cols = tuple(Col(self.fresh(f"column{i + 1}"), t) for i, (_, t) in enumerate(by_column))
        if any(
            isinstance(x, Outer | Sub) for got, _ in by_column for s in got for x in walk_scalar(s)
        ):  # LATERAL (VALUES …)
            parts = tuple(
                Project(Values((), ((),)), tuple((c.name, by_column[i][0][j]) for i, c in enumerate(cols)))
                for j in range(len(rows))
            )
            return Bound(
                parts[0] if len(parts) == 1 else Union(parts), [(f"column{i + 1}", c) for i, c in enumerate(cols)]
            )
        out = tuple(tuple(by_column[i][0][j] for i in range(len(cols))) for j in range(len(rows)))
        return Bound(Values(cols, out), [(f"column{i + 1}", c) for i, c in enumerate(cols)])

    # -- ORDER BY and LIMIT around a set operation

    def ordered(self, e: exp.Expr, bound: Bound, env: Env, parent: Scope | None) -> Bound:
        binder = Expressions(self, lambda q, s: self.subquery(q, env, s))
        bounds = limits(e, lambda x: binder.bind(x, Clause(Scope(parent=parent), "LIMIT")))
        if bounds == (None, 0, False) and not e.args.get("order"):
            return bound
        scope = Scope([Source("", bound.outputs)], parent)
        order = order_by(e.args.get("order"), bound.outputs, lambda x: binder.bind(x, Clause(scope, "ORDER BY")))
        rel = cut(bound.rel, order, bounds, self.fresh)
        return Bound(rel, bound.outputs, (rel, order) if order else bound.ordered)

    # -- names in FROM

    def named(self, t: exp.Table, env: Env) -> Bound:
        """A WITH query, view or table by its name, in this order. Raises InvalidSql where there is none."""
        name, schema = ident(t.this), ident(t.args.get("db"))
        if not schema and name in env.ctes:
            inner = env.ctes[name]
            if isinstance(inner.rel, Recur):
                return inner
            return inner
        if not schema and name in self.views and name not in self.path:
            return self.other_view(name)
        table = self.catalog.find(schema or None, name)
        if table is None:
            import difflib

            near = difflib.get_close_matches(name, [n for _, n in self.catalog.tables] + list(self.views), 1)
            full = f"{schema}.{name}" if schema else name
            error = InvalidSql(
                f'relation "{full}" does not exist',
                code="undefined_table",
                hint=f'Perhaps you meant "{near[0]}".'
                if near
                else "Views read tables of the source and other views of the project.",
            )
            error.at = begins(t)
            raise error
        self.tables.add(f"{table.schema}.{table.name}")
        cols = tuple(Col(c.name, c.type) for c in table.columns)
        full = f"{table.schema}.{table.name}"
        if table.expressions:
            computed = with_generated(table, lambda e, c: Binder(c).query(e, Env(c), None), self.mentioned)
            if computed is not None:
                return replace(computed, table=full)
        return Bound(Scan(full, cols, table.key), [(c.name, c) for c in cols], table=full)

    def other_view(self, name: str) -> Bound:
        inner = Binder(self.catalog, self.views, (*self.path, name))
        if name in self.path:
            raise InvalidSql(f'view "{name}" reads itself', code="invalid_recursion")
        try:
            got = inner.view(self.views[name])
        except TidemarkError as e:
            e.view = e.view or name
            raise
        self.tables |= inner.tables
        self.reads_views |= {name, *inner.reads_views}
        return got

    def subquery(self, e: exp.Expr, env: Env, scope: Scope) -> Relation:
        """A subquery's relation, projected to its outputs under fresh names."""
        bound = self.query(e, env, scope)
        return Project(bound.rel, tuple((self.fresh(n), no_unknown(c)) for n, c in bound.outputs))


def _refers(e: exp.Expr, name: str) -> bool:
    return any(
        ident(t.this) == name and not t.args.get("db")
        for t in e.find_all(exp.Table)
        if isinstance(t.this, exp.Identifier)
    )


def _renamed(outputs: list[tuple[str, Col]], names: list[str], what: str) -> list[tuple[str, Col]]:
    if len(names) > len(outputs):
        raise InvalidSql(
            f'table "{what}" has {len(outputs)} columns available but {len(names)} columns specified',
            code="invalid_column_reference",
        )
    return [(names[i] if i < len(names) else n, c) for i, (n, c) in enumerate(outputs)]


def _wide_enough(t: types.Type, step: types.Type) -> types.Type:
    """The type of a recursive column whose step gives more digits than its base has."""
    if not types.is_numeric(t) or not types.is_exact(step):
        return t
    (whole, scale), (more, finer) = types.digits(t), types.digits(step)
    if finer > scale:
        return types.numeric(types.MAX_PRECISION, types.QUOTIENT_SCALE)
    return types.numeric(types.MAX_PRECISION, scale) if more > whole else t


def _castable(a: types.Type, b: types.Type) -> bool:
    if a.name == "unknown" or a.name == b.name:
        return True
    if types.is_string(a) and types.is_string(b):
        return True
    order = ["int2", "int4", "int8", "numeric", "float4", "float8"]
    return a.name in order and b.name in order and order.index(a.name) <= order.index(b.name)
