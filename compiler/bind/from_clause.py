"""FROM: tables, subqueries, joins, USING, LATERAL, VALUES and set-returning functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from compiler.bind.clause import Clause
from compiler.bind.expressions import Expressions
from compiler.bind.operators import compare
from compiler.bind.scope import Env, Scope, Source
from compiler.bind.sets import set_function
from compiler.catalog import parse_type
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.ir.relation import Apply, Filter, Join, LeftJoin, Project, Relation, Semi, Union, Unnest, Values
from compiler.ir.scalar import TRUE, Call, Col, Lit, Outer, Scalar, cast, columns, conj, transform
from compiler.ir.types import INT8, TEXT
from compiler.normalize.outers import free

if TYPE_CHECKING:
    from compiler.bind.query import Binder

ONE_ROW = Values((), ((),))


def bind_from(binder: Binder, expressions: Expressions, e: exp.Select, env: Env, scope: Scope) -> Relation:
    """The relation of FROM; fills `scope` with what it brings into sight."""
    start = e.args.get("from_") or e.args.get("from")
    if start is None:
        return ONE_ROW
    b = _From(binder, expressions, env, scope)
    rel = b.item(start.this, None)
    for j in [*(start.this.args.get("joins") or []), *(e.args.get("joins") or [])]:
        rel = b.join(rel, j)
    return rel


class _From:
    def __init__(self, binder: Binder, expressions: Expressions, env: Env, scope: Scope) -> None:
        self.binder, self.expressions, self.env, self.scope = binder, expressions, env, scope

    def add(self, alias: str, columns: list[tuple[str, Col]], table=None) -> None:  # type: ignore[no-untyped-def]
        if alias and any(s.alias == alias for s in self.scope.sources):
            raise InvalidSql(f'table name "{alias}" specified more than once', code="duplicate_alias")
        self.scope.sources.append(Source(alias, columns, table))

    def item(self, t: exp.Expr, left: Relation | None) -> Relation:
        """A FROM item by itself (`left` is what LATERAL may look at)."""
        if isinstance(t, exp.Lateral):
            inner = t.this
            alias = t.args.get("alias")
            if isinstance(inner, (exp.Subquery, exp.Query)):
                return self.derived(inner.this if isinstance(inner, exp.Subquery) else inner, alias, lateral=True)
            return self.function(inner, alias, t, left)
        if isinstance(t, exp.Unnest) or (isinstance(t, exp.Table) and isinstance(t.this, (exp.Func, exp.Anonymous))):
            inner = t if isinstance(t, exp.Unnest) else t.this
            return self.function(inner, t.args.get("alias"), t, left)
        if isinstance(t, exp.Table):
            return self.table(t)
        if isinstance(t, exp.Values):
            return self.derived(t, t.args.get("alias"), lateral=False)
        if isinstance(t, exp.Subquery):
            if isinstance(t.this, exp.Table):
                return self.nested(t)
            if isinstance(t.this, exp.Subquery) and t.args.get("alias") is None:
                return self.nested(t)
            return self.derived(t.this, t.args.get("alias"), lateral=False)
        raise UnsupportedSql(f"{t.key.upper()} is not supported in FROM", code="unsupported_syntax")

    def nested(self, t: exp.Subquery) -> Relation:
        """A parenthesized join: (a JOIN b ON …)."""
        rel = self.item(t.this, None)
        for j in [*(t.this.args.get("joins") or []), *(t.args.get("joins") or [])]:
            rel = self.join(rel, j)
        return rel

    def table(self, t: exp.Table) -> Relation:
        bound = self.binder.named(t, self.env)
        alias = t.args.get("alias")
        name = _ident(alias.this) if alias is not None and alias.this is not None else _ident(t.this)
        columns = [_ident(c) for c in alias.args.get("columns") or []] if alias is not None else []
        cols = [(columns[i] if i < len(columns) else n, Col(self.binder.fresh(n), c.type))
                for i, (n, c) in enumerate(bound.outputs)]
        rel: Relation = Project(bound.rel, tuple((c.name, o) for (_, c), (_, o) in zip(cols, bound.outputs, strict=True)))
        table = self.binder.catalog.find(_ident(t.args.get("db")) or None, _ident(t.this))
        is_table = table is not None and f"{table.schema}.{table.name}" == getattr(bound.rel, "table", None)
        self.add(name, cols, table if is_table and not columns else None)
        if t.args.get("sample"):
            raise UnsupportedSql("TABLESAMPLE draws at random", code="volatile_function")
        return rel

    def derived(self, query: exp.Expr, alias: exp.TableAlias | None, lateral: bool) -> Relation:
        name = _ident(alias.this) if alias is not None and alias.this is not None else ""
        columns = [_ident(c) for c in alias.args.get("columns") or []] if alias is not None else []
        bound = self.binder.query(query, self.env, self.scope if lateral else self.scope.parent)
        if len(columns) > len(bound.outputs):
            raise InvalidSql(f'table "{name}" has {len(bound.outputs)} columns available but {len(columns)} specified',
                             code="invalid_column_reference")
        cols = [(columns[i] if i < len(columns) else n, Col(self.binder.fresh(n), _known(c).type))
                for i, (n, c) in enumerate(bound.outputs)]
        rel = Project(bound.rel, tuple((c.name, _known(o)) for (_, c), (_, o) in zip(cols, bound.outputs, strict=True)))
        self.add(name, cols)
        return rel

    def function(self, f: exp.Expr, alias: exp.TableAlias | None, t: exp.Expr, left: Relation | None) -> Relation:
        """A set-returning function, over the rows to its left."""
        name = "unnest" if isinstance(f, exp.Unnest) else ("generate_series" if isinstance(f, (
            exp.GenerateSeries, exp.ExplodingGenerateSeries)) else str(f.this).lower())
        raw = ([f.args["start"], f.args["end"], *([f.args["step"]] if f.args.get("step") else [])]
               if name == "generate_series" and not isinstance(f, exp.Anonymous) else list(f.expressions))
        clause = Clause(self.scope, "FROM")
        alias = alias or f.args.get("alias")
        label = _ident(alias.this) if alias is not None and alias.this is not None else name
        given = list(alias.args.get("columns") or []) if alias is not None else []
        declared = [(_ident(c.this), parse_type(c.args["kind"].sql("postgres"), self.binder.enums)) for c in given if isinstance(c, exp.ColumnDef)]
        got = set_function(name, [self.expressions.bind(a, clause) for a in raw], declared)
        out = got.columns
        names = [_ident(c.this if isinstance(c, exp.ColumnDef) else c) for c in given]
        if not names and len(out) == 1 and alias is not None and alias.this is not None and out[0][0] in (
                "unnest", "generate_series", "generate_subscripts", "string_to_table", "regexp_split_to_table", "jsonb_object_keys", "value"):
            names = [label]
        offset = f.args.get("offset") or t.args.get("ordinality")
        cols = [(names[i] if i < len(names) else n, Col(self.binder.fresh(names[i] if i < len(names) else n), ty))
                for i, (n, ty) in enumerate(out)]
        ordinal: str | None = None
        if offset:
            sql_name = _ident(offset) if isinstance(offset, exp.Identifier) else (
                names[len(out)] if len(names) > len(out) else "ordinality")
            ordinal = self.binder.fresh(sql_name)
            every = [*cols, (sql_name, Col(ordinal, INT8))]
        else:
            every = cols
        self.add(label, every)
        start = left if left is not None else ONE_ROW
        if got.make is None:
            return Unnest(start, got.fn, got.args, tuple(c for _, c in cols), ordinal)
        raws = [Col(self.binder.fresh(n), ty) for n, ty in got.raw]
        rel = Unnest(start, got.fn, got.args, tuple(raws), ordinal)
        made = [(c.name, e) for (_, c), e in zip(cols, got.make(raws), strict=True)]
        kept = [(c.name, c) for c in rel.schema if c not in raws]
        return Project(rel, (*kept, *made))

    # -- joins

    def join(self, left: Relation, j: exp.Join) -> Relation:
        kind, side = str(j.args.get("kind") or "").upper(), str(j.args.get("side") or "").upper()
        if kind in ("SEMI", "ANTI", "ASOF") or j.args.get("method") not in (None, "NATURAL"):
            raise UnsupportedSql(f"{j.args.get('method') or kind} JOIN is not Postgres' SQL", code="unsupported_syntax")
        before = list(self.scope.sources)
        t = j.this
        inner = t.this if isinstance(t, exp.Lateral) else t
        function = isinstance(inner, exp.Unnest) or isinstance(t, exp.Lateral) and not isinstance(
            inner, (exp.Subquery, exp.Query)) or isinstance(t, exp.Table) and isinstance(t.this, (exp.Func, exp.Anonymous))
        if function:
            if side in ("", "LEFT"):
                return self.function_join(left, j, side)
            return self.outer_function(left, self.item(t, None), self.condition(j, before), side)
        right = self.item(t, None)
        for more in t.args.get("joins") or []:
            if isinstance(t, exp.Table):
                right = self.join(right, more)
        on = self.condition(j, before)
        if isinstance(t, exp.Lateral) and any(o.name in left.names for o in free(right)):
            if side not in ("", "LEFT"):
                raise InvalidSql("invalid reference to FROM-clause entry: the combining JOIN type must be INNER or LEFT "
                                 "for a LATERAL reference", code="invalid_column_reference")
            return Apply(left, right, on, "left" if side == "LEFT" else "inner")
        if side == "LEFT":
            return LeftJoin(left, right, on)
        if side == "RIGHT":
            return LeftJoin(right, left, on)
        if side == "FULL":
            return full_join(left, right, on)
        return Join(left, right, on)

    def function_join(self, left: Relation, j: exp.Join, side: str) -> Relation:
        rel = self.item(j.this, left)
        if not isinstance(rel, Unnest):
            return self.projected(rel, j, side)
        apart = side == "LEFT" and j.args.get("on") is not None and not any(columns(a) for a in rel.args)
        if apart:  # the function reads nothing of the left side: an ordinary outer join
            right = Unnest(ONE_ROW, rel.fn, rel.args, rel.out, rel.ordinality)
            return LeftJoin(left, right, self.expressions.condition(j.args["on"], Clause(self.scope, "JOIN/ON")))
        on = j.args.get("on")
        condition = self.expressions.condition(on, Clause(self.scope, "JOIN/ON")) if on is not None else TRUE
        if side == "LEFT":
            if condition != TRUE:
                return self.lateral_function(left, rel, condition)
            return Unnest(rel.input, rel.fn, rel.args, rel.out, rel.ordinality, outer=True)
        return rel if condition == TRUE else Filter(rel, condition)

    def lateral_function(self, left: Relation, rel: Unnest, on: Scalar) -> Relation:
        """LEFT JOIN LATERAL with a condition: the function as a query over each row of the left side."""
        names = set(left.names)
        args = tuple(transform(a, lambda n: Outer(n.name, n.type) if isinstance(n, Col) and n.name in names else None) for a in rel.args)
        return Apply(left, Unnest(ONE_ROW, rel.fn, args, rel.out, rel.ordinality), on, "left")

    def projected(self, rel: Relation, j: exp.Join, side: str) -> Relation:
        """A function whose columns are computed from what it gives, over the rows to its left."""
        on = j.args.get("on")
        condition = self.expressions.condition(on, Clause(self.scope, "JOIN/ON")) if on is not None else TRUE
        if side != "LEFT":
            return rel if condition == TRUE else Filter(rel, condition)
        assert isinstance(rel, Project) and isinstance(rel.input, Unnest)
        if condition != TRUE:
            raise UnsupportedSql("LEFT JOIN of a set-returning function needs ON true", code="unsupported_syntax")
        u = rel.input
        return Project(Unnest(u.input, u.fn, u.args, u.out, u.ordinality, outer=True), rel.exprs)

    def outer_function(self, left: Relation, right: Relation, on: Scalar, side: str) -> Relation:
        """RIGHT or FULL JOIN with a function, which reads nothing of the left side."""
        if any(o.name in left.names for o in free(right)):
            raise InvalidSql("invalid reference to FROM-clause entry: the combining JOIN type must be INNER or LEFT "
                             "for a LATERAL reference", code="invalid_column_reference")
        return LeftJoin(right, left, on) if side == "RIGHT" else full_join(left, right, on)

    def condition(self, j: exp.Join, before: list[Source]) -> Scalar:
        using = [_ident(u if isinstance(u, exp.Identifier) else u.this) for u in j.args.get("using") or []]
        after = self.scope.sources[len(before):]
        if j.args.get("method") == "NATURAL":
            ours = {n for s in before for n, _ in s.columns if n not in s.hidden} | set(self.scope.merged)
            using = [n for s in after for n, _ in s.columns if n in ours]
        if using:
            return self.using(using, before, after, str(j.args.get("side") or "").upper())
        on = j.args.get("on")
        if on is None:
            return TRUE
        return self.expressions.condition(on, Clause(self.scope, "JOIN/ON"))

    def using(self, names: list[str], before: list[Source], after: list[Source], side: str) -> Scalar:
        parts: list[Scalar] = []
        for n in names:
            l = self.scope.merged.get(n) or Scope(before).local(None, n)
            r = Scope(after).local(None, n)
            if l is None or r is None:
                raise InvalidSql(f'column "{n}" specified in USING clause does not exist in '
                                 f"{'left' if l is None else 'right'} table", code="undefined_column")
            parts.append(compare("=", l, r))
            merged: Scalar = r if side == "RIGHT" else l
            if side == "FULL":
                merged = Call("coalesce", (l, cast(r, l.type)), l.type)
            self.scope.merged[n] = merged
            for s in [*before, *after]:
                if any(c == n for c, _ in s.columns):
                    s.hidden.add(n)
        return conj(parts)


def full_join(left: Relation, right: Relation, on: Scalar) -> Relation:
    """FULL JOIN: the left join, and the right rows without a partner padded with NULLs."""
    alone = Semi(right, left, on, anti=True)
    padded = Project(alone, tuple((c.name, Lit(None, c.type)) for c in left.schema)
                     + tuple((c.name, c) for c in right.schema))
    return Union((LeftJoin(left, right, on), padded))


def _ident(e: exp.Expr | str | None) -> str:
    if isinstance(e, exp.Identifier):
        return str(e.this if e.args.get("quoted") else e.this.lower())
    return str(e or "")


def _known(c: Scalar) -> Scalar:
    return cast(c, TEXT) if c.type.name == "unknown" else c
