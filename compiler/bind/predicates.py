"""Conditions: AND, OR, NOT, comparisons with values, lists and subqueries, NULL tests."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from compiler.bind import array_access, composites, ranges, rows, whole_rows
from compiler.bind.clause import Binding, Clause
from compiler.bind.coerce import normal
from compiler.bind.failing import in_order
from compiler.bind.operators import compare, in_values, meet
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.ir import types
from compiler.ir.relation import Project, Relation
from compiler.ir.scalar import Call, Col, Lit, Outer, Scalar, conj, is_null, negate, transform, walk
from compiler.ir.subquery import AnySub, ExistsSub, ScalarSub, Sub
from compiler.ir.types import BOOL


class Predicates(Binding):
    """Binds conditions."""

    def and_(self, e: Any, c: Clause) -> Scalar:
        parts = [self.condition(x, c) for x in e.flatten()]
        return conj(parts) if c.name in ("WHERE", "JOIN/ON", "HAVING") else in_order(parts)  # filters go one by one

    def or_(self, e: Any, c: Clause) -> Scalar:
        return Call("or", tuple(self.condition(x, c) for x in e.flatten()), BOOL)

    def not_(self, e: Any, c: Clause) -> Scalar:
        return negate(self.condition(e.this, c))

    def comparison(self, op: str, left: exp.Expr, right: exp.Expr, c: Clause) -> Scalar:
        """A comparison of values or rows, or with ANY, SOME and ALL of a subquery or an array. Raises InvalidSql for a
        row beside a value."""
        if (
            isinstance(right, exp.Anonymous)
            and str(right.this).upper() in ("ALL", "SOME")
            and len(right.expressions) == 1
        ):
            right = (exp.All if str(right.this).upper() == "ALL" else exp.Any)(this=right.expressions[0])
        if isinstance(right, (exp.Any, exp.All)):
            return self.quantified(op, left, right, c)
        if rows.items(left) is not None or rows.items(right) is not None:
            l, r = rows.values(self, left, c), rows.values(self, right, c)
            if l is None or r is None:
                raise InvalidSql(f"operator does not exist: {op} of a row and a value", code="undefined_operator")
            return rows.compare_rows(op, l, r)
        return compare(op, self.bind(left, c), self.bind(right, c))

    def quantified(self, op: str, left: exp.Expr, right: exp.Expr, c: Clause) -> Scalar:
        inner = right.this.unnest() if isinstance(right.this, (exp.Paren, exp.Subquery)) else right.this
        every = isinstance(right, exp.All)
        if isinstance(inner, exp.Query | exp.Values):
            flip = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
            if every:
                return negate(self.any_subquery(flip[op], left, inner, c))
            return self.any_subquery(op, left, inner, c)
        return array_access.compared(self, op, every, self.bind(left, c), self.bind(right.this, c))

    def any_subquery(self, op: str, left: exp.Expr, query: exp.Expr, c: Clause) -> Scalar:
        """op ANY (subquery), which IN is too; both sides are given the type that they are compared at. Raises
        InvalidSql where they have not as many columns."""
        parts = rows.items(left)
        args = [self.bind(x, c) for x in parts] if parts is not None else [self.bind(left, c)]
        rel = self.subquery(query, c.around)
        if len(rel.names) != len(args):
            raise InvalidSql(
                "subquery has too many columns" if len(rel.names) > len(args) else "subquery has too few columns",
                code="syntax_error",
            )
        args = [meet(a, col)[0] for a, col in zip(args, rel.schema, strict=True)]
        if len(args) > 1 and op != "=":
            return self.any_row(op, args, rel)
        if op == "=" and any(a.type.name == "jsonb" for a in args):  # equal numbers may be written differently
            rel = Project(rel, tuple((col.name, normal(col)) for col in rel.schema))
            args = [normal(a) for a in args]
        tests = [compare(op, a, col) for a, col in zip(args, rel.schema, strict=True)]
        sides = [
            t.args if isinstance(t, Call) and t.fn == op else (a, col)
            for t, a, col in zip(tests, args, rel.schema, strict=True)
        ]
        if any(b != col for (_, b), col in zip(sides, rel.schema, strict=True)):  # both sides as they are compared
            rel = Project(rel, tuple((col.name, b) for (_, b), col in zip(sides, rel.schema, strict=True)))
        args = [a for a, _ in sides]
        return AnySub(rel, tuple(args), op)

    def any_row(self, op: str, args: list[Scalar], rel: Relation) -> Scalar:
        """Rows are compared as wholes, within the subquery: TRUE = ANY of the outcomes."""
        if any(isinstance(n, Sub) for a in args for n in walk(a)):
            raise UnsupportedSql(
                f"{op} ANY or ALL of a row that holds a subquery is not supported", code="unsupported_syntax"
            )
        outer = [transform(a, lambda n: Outer(n.name, n.type) if isinstance(n, Col) else None) for a in args]
        holds = rows.compare_rows(op, outer, list(rel.schema))
        return AnySub(Project(rel, ((self.binder.fresh("holds"), holds),)), (Lit(True, BOOL),), "=")

    def in_(self, e: Any, c: Clause) -> Scalar:
        query = e.args.get("query")
        if query is None and len(e.expressions) == 1 and isinstance(e.expressions[0].unnest(), exp.Values):
            query = e.expressions[0]
        if query is not None:
            return self.any_subquery("=", e.this, query.unnest(), c)
        if (parts := rows.items(e.this)) is not None:
            mine = [self.bind(x, c) for x in parts]
            alternatives = tuple(rows.compare_rows("=", mine, rows.values(self, x, c) or []) for x in e.expressions)
            return Call("or", alternatives, BOOL) if len(alternatives) > 1 else alternatives[0]
        items = [self.bind(x, c) for x in e.expressions]
        return in_values(self.bind(e.this, c), items)

    def between(self, e: Any, c: Clause) -> Scalar:
        if rows.items(e.this) is not None:
            mine, least, most = (rows.values(self, p, c) or [] for p in (e.this, e.args["low"], e.args["high"]))
            within = conj([rows.compare_rows(">=", mine, least), rows.compare_rows("<=", mine, most)])
            return negate(within) if e.args.get("negate") else within
        x = self.bind(e.this, c)
        low, high = self.bind(e.args["low"], c), self.bind(e.args["high"], c)
        got = conj([compare(">=", x, low), compare("<=", x, high)])
        if e.args.get("symmetric"):
            got = Call("or", (got, conj([compare(">=", x, high), compare("<=", x, low)])), BOOL)
        return negate(got) if e.args.get("negate") else got

    def is_(self, e: Any, c: Clause) -> Scalar:
        """IS [NOT] NULL, TRUE, FALSE and UNKNOWN; of rows, of each of their fields. Raises UnsupportedSql for values of
        types that have fields, which are kept as text."""
        right = e.expression
        if isinstance(right, exp.Null) or right.name.upper() == "UNKNOWN":
            if (parts := rows.items(e.this)) is not None:
                return rows.null_test([self.bind(p, c) for p in parts], bool(e.args.get("negate")))
            if whole := whole_rows.columns(e.this, c):
                return rows.null_test([col for _, col in whole], bool(e.args.get("negate")))
            value = self.bind(e.this, c)
            if composites.is_composite(value.type):
                return composites.null_test(value, bool(e.args.get("negate")))
            if types.COMPOSITE in value.type.labels[1:]:
                raise UnsupportedSql(
                    f"IS NULL of a {value.type} is not supported",
                    code="unsupported_operator",
                    detail="It asks for each of its fields.",
                    hint="Compute it in the source, into a column of another type.",
                )
            got = is_null(value)
        elif isinstance(right, exp.Boolean):
            got = Call("is_true" if right.this else "is_false", (self.condition(e.this, c),), BOOL)
        else:
            raise UnsupportedSql(f"IS {right.sql('postgres')} is not supported", code="unsupported_syntax")
        return negate(got) if e.args.get("negate") else got

    def not_distinct(self, e: Any, c: Clause) -> Scalar:
        if rows.items(e.this) is not None:
            return rows.same_rows(rows.values(self, e.this, c) or [], rows.values(self, e.expression, c) or [])
        a, b = self.bind(e.this, c), self.bind(e.expression, c)
        if ranges.spans(a.type) or ranges.spans(b.type):
            return ranges.same(a, b)
        got = compare("=", a, b)
        assert isinstance(got, Call)
        if got.fn == "json_equal":
            nulls = [is_null(a) for a in got.args]
            both = Call("and", tuple(nulls), BOOL)
            return Call("or", (both, Call("coalesce", (got, Lit(False, BOOL)), BOOL)), BOOL)
        return Call("same", got.args, BOOL)

    def distinct_from(self, e: Any, c: Clause) -> Scalar:
        return negate(self.not_distinct(e, c))

    def exists(self, e: Any, c: Clause) -> Scalar:
        return ExistsSub(self.subquery(e.this.unnest(), c.around))

    def scalar_subquery(self, e: Any, c: Clause) -> Scalar:
        rel = self.subquery(e.unnest(), c.around)
        if len(rel.names) != 1:
            raise InvalidSql("subquery must return only one column", code="syntax_error")
        return ScalarSub(rel, rel.schema[0].type)
