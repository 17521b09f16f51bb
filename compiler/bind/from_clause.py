"""FROM: tables, subqueries, joins, USING, LATERAL, VALUES and set-returning functions."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from compiler.bind.aggregates import listed
from compiler.bind.clause import Clause
from compiler.bind.coerce import unify
from compiler.bind.expressions import Expressions
from compiler.bind.join_tree import (
    Tree,
    arriving,
    full_join,
    ident,
    is_comma,
    is_function,
    is_lateral,
    no_unknown,
    product,
    renamed,
)
from compiler.bind.names import QueryBinder
from compiler.bind.operators import compare
from compiler.bind.scope import Bound, Env, Scope, Source
from compiler.bind.sets import ONE_ROW, UNNAMED, set_function, sets_joined
from compiler.bind.whole_rows import asked_for, certain
from compiler.catalog import Table, parse_type
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.ir.outers import free
from compiler.ir.relation import Apply, Join, LeftJoin, Order, Project, Relation, Unnest
from compiler.ir.scalar import TRUE, Call, Col, Outer, Scalar, conj, transform
from compiler.ir.types import BOOL, INT8


def bind_from(binder: QueryBinder, expressions: Expressions, e: exp.Select, env: Env, scope: Scope) -> Relation:
    """The relation of FROM; fills `scope` with what it brings into sight."""
    start = e.args.get("from_") or e.args.get("from")
    if start is None:
        return ONE_ROW
    b = _From(binder, expressions, env, scope, asked_for(e), listed(e))
    tree = b.items(start.this, [*(start.this.args.get("joins") or []), *(e.args.get("joins") or [])])
    scope.shown, scope.merged, scope.order = tree.shown, tree.merged, tree.order
    return tree.rel


class _From:
    def __init__(
        self, binder: QueryBinder, expressions: Expressions, env: Env, scope: Scope, whole: set[str], listed: bool
    ) -> None:
        self.binder, self.expressions, self.env, self.scope, self.whole, self.listed = (
            binder,
            expressions,
            env,
            scope,
            whole,
            listed,
        )
        self.around = 0  # sources outside the join being read, which an alias of its own keeps apart

    def add(
        self,
        alias: str,
        columns: list[tuple[str, Col]],
        rel: Relation,
        table: Table | None = None,
        scalar: bool = False,
        schema: str = "",
    ) -> Tree:
        """An item under its name, `schema` that of a table without an alias. Raises InvalidSql where another has it."""
        others = [s for s in self.scope.sources[self.around :] if s.alias == alias]
        if alias and any(not schema or s.schema in ("", schema) for s in others):
            raise InvalidSql(f'table name "{alias}" specified more than once', code="duplicate_alias")
        source = Source(alias, columns, table, scalar=scalar, schema=schema)
        self.scope.sources.append(source)
        return Tree(rel, [source], list(columns))

    def items(self, first: exp.Expr, joins: list[exp.Join]) -> Tree:
        """Items between commas, each with its joins: a JOIN binds its own item's tables alone."""
        before: Tree | None = None  # the items that are complete
        within = False  # whether the current item's relation has taken them in, for its LATERAL parts
        tree = self.item(first, None)
        for j in joins:
            lateral = is_lateral(j.this)
            if is_comma(j):
                before, within = tree if before is None else product(before, tree, within), False
                tree = self.item(j.this, before.rel)
                if lateral:
                    tree, within = replace(tree, rel=self.applied(before.rel, tree.rel, j.this)), True
                continue
            if before is not None and not within and lateral:
                tree, within = replace(tree, rel=Join(before.rel, tree.rel, TRUE)), True
            if within and str(j.args.get("side") or "").upper() in ("RIGHT", "FULL"):
                raise UnsupportedSql(
                    "RIGHT or FULL JOIN of an item with LATERAL parts, after a comma, is not supported",
                    code="unsupported_syntax",
                    hint="Write CROSS JOIN instead of the comma.",
                )
            tree = self.join(tree, j)
        return tree if before is None else product(before, tree, within)

    def applied(self, left: Relation, right: Relation, t: exp.Expr) -> Relation:
        """The rows of a LATERAL item for each row to its left."""
        if is_function(t):
            return right  # made over the rows to its left
        return Apply(left, right, TRUE) if any(o.name in left.names for o in free(right)) else Join(left, right, TRUE)

    def item(self, t: exp.Expr, left: Relation | None) -> Tree:
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
            if isinstance(t.this, exp.Subquery) and (t.args.get("alias") is None or t.this.args.get("joins")):
                return self.nested(t)
            return self.derived(t.this, t.args.get("alias"), lateral=False)
        raise UnsupportedSql(f"{t.key.upper()} is not supported in FROM", code="unsupported_syntax")

    def nested(self, t: exp.Subquery) -> Tree:
        """A parenthesized join: (a JOIN b ON …)."""
        alias, around, outside = t.args.get("alias"), self.around, len(self.scope.sources)
        if alias is not None and alias.this is not None:
            self.around = outside
        tree = self.items(t.this, [*(t.this.args.get("joins") or []), *(t.args.get("joins") or [])])
        self.around = around
        if alias is None or alias.this is None:
            return tree
        del self.scope.sources[outside:]  # the alias hides the names within
        given = [ident(c) for c in alias.args.get("columns") or []]
        cols = [
            (given[i] if i < len(given) else n, Col(self.binder.fresh(n), s.type))
            for i, (n, s) in enumerate(tree.shown)
        ]
        rel = Project(tree.rel, tuple((c.name, s) for (_, c), (_, s) in zip(cols, tree.shown, strict=True)))
        return self.add(ident(alias.this), cols, rel)

    def table(self, t: exp.Table) -> Tree:
        """A table, view or WITH query under its alias and new names for its columns. Raises UnsupportedSql for ONLY,
        TABLESAMPLE and new names over columns that are not replicated."""
        bound = self.binder.named(t, self.env)
        alias = t.args.get("alias")
        name = ident(alias.this) if alias is not None and alias.this is not None else ident(t.this)
        columns = [ident(c) for c in alias.args.get("columns") or []] if alias is not None else []
        cols = [
            (columns[i] if i < len(columns) else n, Col(self.binder.fresh(n), c.type))
            for i, (n, c) in enumerate(bound.outputs)
        ]
        table = self.binder.catalog.find(ident(t.args.get("db")) or None, ident(t.this))
        is_table = table is not None and f"{table.schema}.{table.name}" == bound.table
        there = {n for n, _ in bound.outputs}
        unsaid = [g for g in table.generated if g not in there] if is_table and table is not None else []
        if unsaid and columns:
            raise UnsupportedSql(
                f'new names for the columns of "{name}", of which "{unsaid[0]}" is generated by an expression that is '
                "not supported",
                code="generated_column",
                detail="Postgres does not replicate it.",
                hint="Name the columns in a subquery.",
            )
        if t.args.get("only"):
            raise UnsupportedSql(
                "ONLY is not supported",
                code="unsupported_syntax",
                detail="Rows come without the table that holds them.",
            )
        if t.args.get("sample"):
            raise UnsupportedSql("TABLESAMPLE draws at random", code="volatile_function")
        schema = table.schema if is_table and table is not None and alias is None else ""
        tree = self.placed(name, cols, bound, table if is_table and not columns else None, schema)
        if is_table and columns:
            tree.sources[0].row = tuple(n for n, _ in bound.outputs)
        return tree

    def derived(self, query: exp.Expr, alias: exp.TableAlias | None, lateral: bool) -> Tree:
        name = ident(alias.this) if alias is not None and alias.this is not None else ""
        columns = [ident(c) for c in alias.args.get("columns") or []] if alias is not None else []
        bound = self.binder.query(query, self.env, self.scope if lateral else self.scope.parent)
        if len(columns) > len(bound.outputs):
            raise InvalidSql(
                f'table "{name}" has {len(bound.outputs)} columns available but {len(columns)} specified',
                code="invalid_column_reference",
            )
        cols = [
            (columns[i] if i < len(columns) else n, Col(self.binder.fresh(n), no_unknown(c).type))
            for i, (n, c) in enumerate(bound.outputs)
        ]
        return self.placed(name, cols, bound)

    def placed(
        self, name: str, cols: list[tuple[str, Col]], bound: Bound, table: Table | None = None, schema: str = ""
    ) -> Tree:
        rel, order = renamed(bound, [c for _, c in cols], self.binder.fresh)
        return replace(self.add(name, cols, rel, table, schema=schema), order=order)

    def function(self, f: exp.Expr, alias: exp.TableAlias | None, t: exp.Expr, left: Relation | None) -> Tree:
        """A set-returning function, over the rows to its left."""
        name = (
            "unnest"
            if isinstance(f, exp.Unnest)
            else (
                "generate_series"
                if isinstance(f, (exp.GenerateSeries, exp.ExplodingGenerateSeries))
                else str(f.this).lower()
            )
        )
        raw = (
            [f.args["start"], f.args["end"], *([f.args["step"]] if f.args.get("step") else [])]
            if name == "generate_series" and not isinstance(f, exp.Anonymous)
            else list(f.expressions)
        )
        clause = Clause(self.scope, "FROM")
        alias = alias or f.args.get("alias")
        label = ident(alias.this) if alias is not None and alias.this is not None else name
        given = list(alias.args.get("columns") or []) if alias is not None else []
        declared = [
            (ident(c.this), parse_type(c.args["kind"].sql("postgres"), self.binder.enums))
            for c in given
            if isinstance(c, exp.ColumnDef)
        ]
        start = left if left is not None else ONE_ROW
        here = set(start.names)
        args = [
            transform(
                self.expressions.bind(a, clause),
                lambda n: Outer(n.name, n.type) if isinstance(n, Col) and n.name not in here else None,
            )
            for a in raw
        ]  # of rows outside the join it stands in
        got = set_function(name, args, declared, in_from=True)
        out = got.columns
        names = [ident(c.this if isinstance(c, exp.ColumnDef) else c) for c in given]
        if not names and len(out) == 1 and alias is not None and alias.this is not None and out[0][0] in UNNAMED:
            names = [label]
        offset = f.args.get("offset") or t.args.get("ordinality")
        cols = [
            (names[i] if i < len(names) else n, Col(self.binder.fresh(names[i] if i < len(names) else n), ty))
            for i, (n, ty) in enumerate(out)
        ]
        ordinal: str | None = None
        if offset:
            sql_name = (
                ident(offset)
                if isinstance(offset, exp.Identifier)
                else (names[len(out)] if len(names) > len(out) else "ordinality")
            )
            ordinal = self.binder.fresh(sql_name)
            every = [*cols, (sql_name, Col(ordinal, INT8))]
        else:
            every = cols
            ordinal = self.binder.fresh("ordinal") if self.listed else None
        order = (Order(Col(ordinal, INT8), False, False),) if ordinal is not None and self.listed else ()
        scalar = len(every) == 1
        if got.make is None:
            rel = Unnest(start, got.fn, got.args, tuple(c for _, c in cols), ordinal)
            return replace(self.add(label, every, rel, scalar=scalar), order=order)
        raws = [Col(self.binder.fresh(n), ty) for n, ty in got.raw]
        rel = Unnest(start, got.fn, got.args, tuple(raws), ordinal)
        computed = [(c.name, e) for (_, c), e in zip(cols, got.make(raws), strict=True)]
        kept = [(c.name, c) for c in rel.schema if c not in raws]
        return replace(
            self.add(label, every, Project(rel, (*kept, *computed)), scalar=scalar and not declared), order=order
        )

    # -- joins

    def join(self, left: Tree, j: exp.Join) -> Tree:
        """A tree joined with one more item: its condition, the rows without partner, functions over the rows to its
        left. Raises UnsupportedSql for joins that Postgres does not have."""
        kind, side = str(j.args.get("kind") or "").upper(), str(j.args.get("side") or "").upper()
        if kind in ("SEMI", "ANTI", "ASOF") or j.args.get("method") not in (None, "NATURAL"):
            raise UnsupportedSql(f"{j.args.get('method') or kind} JOIN is not Postgres' SQL", code="unsupported_syntax")
        t = j.this
        within = j.args.get("within") or []
        over = left.rel if is_function(t) and side in ("", "LEFT") and not within else None
        right = self.item(t, over)
        for more in within:
            right = self.join(right, more)
        left = self.padded(left) if side in ("RIGHT", "FULL") else left
        right = self.padded(right, over is None) if side in ("LEFT", "FULL") else right
        on, both = self.condition(j, left, right)
        if over is not None:
            return replace(both, rel=sets_joined(left.rel, right.rel, on, side), order=arriving(left, right))
        return replace(both, rel=self.joined(left.rel, right.rel, on, side))

    def padded(self, side: Tree, marks: bool = True) -> Tree:
        """The side of an outer join that may have no partner. Where its whole rows are asked for, they say that they
        are there (`marks`: not those of a function over the other side's rows)."""
        rel = side.rel
        for s in side.sources:
            s.padded = True
            if marks and s.alias in self.whole and certain(s) is None:
                s.present = Col(self.binder.fresh("present"), BOOL)
                rel = Project(rel, (*((c.name, c) for c in rel.schema), (s.present.name, TRUE)))
        return replace(side, rel=rel)

    def joined(self, left: Relation, right: Relation, on: Scalar, side: str) -> Relation:
        if any(o.name in left.names for o in free(right)):
            if side not in ("", "LEFT"):
                raise InvalidSql(
                    "invalid reference to FROM-clause entry: the combining JOIN type must be INNER or LEFT "
                    "for a LATERAL reference",
                    code="invalid_column_reference",
                )
            return Apply(left, right, on, outer=side == "LEFT")
        if side == "LEFT":
            return LeftJoin(left, right, on)
        if side == "RIGHT":
            return LeftJoin(right, left, on)
        return full_join(left, right, on) if side == "FULL" else Join(left, right, on)

    def condition(self, j: exp.Join, left: Tree, right: Tree) -> tuple[Scalar, Tree]:
        """(ON or USING as a condition, the tree of both sides): it sees the tables of the two sides alone."""
        listed = [u for u in j.args.get("using") or [] if not isinstance(u, exp.TableAlias)]
        using = [ident(u if isinstance(u, exp.Identifier) else u.this) for u in listed]
        sources, merged = [*left.sources, *right.sources], {**left.merged, **right.merged}
        if j.args.get("method") == "NATURAL":
            theirs = {n for n, _ in right.shown}
            using = [n for n, _ in left.shown if n in theirs]
        if using:
            on, both = self.using(using, left, right, str(j.args.get("side") or "").upper())
            alias = next((ident(u.this) for u in j.args.get("using") or [] if isinstance(u, exp.TableAlias)), "")
            return on, both if not alias else self.named(alias, using, both)
        both = Tree(left.rel, sources, [*left.shown, *right.shown], merged)
        condition = j.args.get("on")
        scope = Scope(sources, self.scope.parent, merged)
        return TRUE if condition is None else self.expressions.condition(condition, Clause(scope, "JOIN/ON")), both

    def named(self, alias: str, using: list[str], both: Tree) -> Tree:
        """USING (…) AS alias: a source of the merged columns alone, which bare names and * do not see again."""
        merged = [(n, c) for n, c in both.merged.items() if n in using and isinstance(c, Col)]
        if len(merged) < len(using):
            raise UnsupportedSql(
                "an alias of USING in a FULL JOIN is not supported",
                code="unsupported_syntax",
                hint="Use coalesce(a.x, b.x).",
            )
        added = self.add(alias, merged, both.rel).sources[0]
        added.hidden.update(using)
        return replace(both, sources=[*both.sources, added])

    def using(self, names: list[str], left: Tree, right: Tree, side: str) -> tuple[Scalar, Tree]:
        """The condition of USING and NATURAL, and a tree that shows each of those columns once, first. Raises
        InvalidSql where a side lacks one."""
        parts: list[Scalar] = []
        new: dict[str, Scalar] = {}
        for n in names:
            l = Scope(left.sources, merged=left.merged).local(None, n)
            r = Scope(right.sources, merged=right.merged).local(None, n)
            if l is None or r is None:
                raise InvalidSql(
                    f'column "{n}" specified in USING clause does not exist in '
                    f"{'left' if l is None else 'right'} table",
                    code="undefined_column",
                )
            parts.append(compare("=", l, r))
            new[n] = r if side == "RIGHT" else l
            if side == "FULL":
                both, t = unify([l, r], "JOIN/USING")
                new[n] = Call("coalesce", tuple(both), t)
            for s in [*left.sources, *right.sources]:
                if any(c == n for c, _ in s.columns):
                    s.hidden.add(n)
        self.scope.merged.update(new)
        rest = [(n, c) for n, c in [*left.shown, *right.shown] if n not in new]
        return conj(parts), Tree(
            left.rel, [*left.sources, *right.sources], [*new.items(), *rest], {**left.merged, **right.merged, **new}
        )
