"""Syntax of an expression to a typed scalar. One method a kind of syntax; subqueries and aggregates call back."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from compiler.bind import aggregates, array_access, json_access, json_values, patterns, rows, sets
from compiler.bind.coerce import coerce, unify
from compiler.bind.functions import bind_function
from compiler.bind.functions.times import at_zone, extract, make_interval
from compiler.bind.operators import binary, compare, concat, meet, number
from compiler.bind.scope import Scope
from compiler.bind.sets import SetFunction
from compiler.catalog import parse_type
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.ir import types
from compiler.ir.relation import Agg, Relation, WindowCall
from compiler.ir.scalar import Call, Col, Lit, Outer, Scalar, Sub, case, cast, conj, is_null, negate
from compiler.ir.scalar import walk as scalar_walk
from compiler.ir.types import BOOL, INT4, INT8, INTERVAL, JSONB, TEXT, Type

if TYPE_CHECKING:
    from compiler.bind.query import Binder

NOW = {"now": types.TIMESTAMPTZ, "current_timestamp": types.TIMESTAMPTZ, "transaction_timestamp": types.TIMESTAMPTZ,
       "statement_timestamp": types.TIMESTAMPTZ, "localtimestamp": types.TIMESTAMP, "current_date": types.DATE, "localtime": types.TIME}
JSON_FUNCTIONS = {form.format(kind.name): (make, kind) for kind in (types.JSON, JSONB) for form, make in (
    ("to_{}", json_values.to_json), ("{}_build_array", json_values.build_array), ("{}_build_object", json_values.build_object))}
COMPARISONS: dict[type, str] = {exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
ARITHMETIC: dict[type, str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.IntDiv: "/"}


@dataclass
class Clause:
    """Where an expression stands: what it can name and collect. `aggs`/`windows` None: not allowed here."""

    scope: Scope
    name: str
    aggs: dict[Agg, Col] | None = None
    windows: dict[tuple[tuple[Scalar, ...], WindowCall], Col] | None = None
    named_windows: dict[str, exp.Window] = field(default_factory=dict)
    grouping: Callable[[list[Scalar]], Scalar] | None = None
    srfs: list[tuple[SetFunction, Col]] | None = None


class Expressions:
    """Binds expressions within one query block."""

    def __init__(self, binder: Binder, subquery: Callable[[exp.Expr, Scope], Relation]) -> None:
        self.binder = binder
        self.subquery = subquery

    def bind(self, e: Any, c: Clause) -> Scalar:
        method = METHODS.get(type(e))
        if method is not None:
            return method(self, e, c)
        if type(e) in COMPARISONS:
            return self.comparison(COMPARISONS[type(e)], e.this, e.expression, c)
        if type(e) in ARITHMETIC:
            return binary(ARITHMETIC[type(e)], self.bind(e.this, c), self.bind(e.expression, c))
        raise UnsupportedSql(f"{e.key.upper()} is not supported in {c.name}", code="unsupported_syntax",
                             detail=e.sql("postgres")[:200])

    def condition(self, e: Any, c: Clause) -> Scalar:
        got = self.bind(e, c)
        if got.type.name == "unknown":
            got = cast(got, BOOL)
        if got.type.name != "bool":
            raise InvalidSql(f"argument of {c.name} must be type boolean, not type {got.type}", code="datatype_mismatch")
        return got

    # -- leaves

    def column(self, e: Any, c: Clause) -> Scalar:
        ident = e.this
        if isinstance(ident, exp.Star):
            raise UnsupportedSql("* is not supported here", code="unsupported_syntax")
        quoted = ident.args.get("quoted")
        name = ident.this if quoted else ident.this.lower()
        table = e.args.get("table")
        alias = None if table is None else (table.this if table.args.get("quoted") else table.this.lower())
        if alias is None and not quoted and name in NOW:
            return self.now(name)
        if alias is None and not quoted and name in ("current_user", "session_user", "user", "current_role"):
            raise UnsupportedSql(f"the view reads {name}", code="volatile_function",
                                 detail="Its value is not a function of the tables.")
        return c.scope.resolve(alias, name)

    def now(self, name: str) -> Scalar:
        """The time of the transaction that reads; dates are UTC's."""
        at = Call("now", (), types.TIMESTAMPTZ)
        if name not in NOW:
            raise UnsupportedSql(f"{name} is not supported", code="unsupported_function", hint="Use now() or localtime.")
        return at if NOW[name] == types.TIMESTAMPTZ else cast(at, NOW[name])

    def literal(self, e: Any, c: Clause) -> Scalar:
        if e.is_string:
            return Lit(e.this, types.UNKNOWN)
        if re.fullmatch(r"\d+", e.this):
            n = int(e.this)
            if n < 2**31:
                return Lit(n, INT4)
            return Lit(n, INT8) if n < 2**63 else number(e.this)
        return number(e.this)

    def boolean(self, e: Any, c: Clause) -> Scalar:
        return Lit(bool(e.this), BOOL)

    def null(self, e: Any, c: Clause) -> Scalar:
        return Lit(None, types.UNKNOWN)

    def paren(self, e: Any, c: Clause) -> Scalar:
        return self.bind(e.this, c)

    def interval(self, e: Any, c: Clause) -> Scalar:
        unit = e.args.get("unit")
        if not isinstance(e.this, exp.Literal):
            raise UnsupportedSql("an interval of a column needs multiplication", code="unsupported_syntax",
                                 hint="Write n * interval '1 day'.")
        text = e.this.this + (f" {unit.name.lower()}" if unit is not None else "")
        return Lit(text, INTERVAL)

    # -- operators

    def neg(self, e: Any, c: Clause) -> Scalar:
        x = coerce(self.bind(e.this, c), INT4)
        if isinstance(x, Lit) and isinstance(x.value, int) and not isinstance(x.value, bool):
            return Lit(-x.value, x.type)
        return Call("neg", (x,), x.type)

    def and_(self, e: Any, c: Clause) -> Scalar:
        return conj([self.condition(x, c) for x in e.flatten()])

    def or_(self, e: Any, c: Clause) -> Scalar:
        return Call("or", tuple(self.condition(x, c) for x in e.flatten()), BOOL)

    def not_(self, e: Any, c: Clause) -> Scalar:
        return negate(self.condition(e.this, c))

    def comparison(self, op: str, left: exp.Expr, right: exp.Expr, c: Clause) -> Scalar:
        if isinstance(right, exp.Anonymous) and str(right.this).upper() == "ALL" and len(right.expressions) == 1:
            right = exp.All(this=right.expressions[0])
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
        if isinstance(inner, exp.Query):
            flip = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
            if every:
                return negate(self.any_subquery(flip[op], left, inner, c))
            return self.any_subquery(op, left, inner, c)
        return array_access.compared(self, op, every, self.bind(left, c), self.bind(right.this, c))

    def any_subquery(self, op: str, left: exp.Expr, query: exp.Expr, c: Clause) -> Scalar:
        parts = rows.items(left)
        args = [self.bind(x, c) for x in parts] if parts is not None else [self.bind(left, c)]
        rel = self.subquery(query, c.scope)
        if len(rel.names) != len(args):
            raise InvalidSql("subquery has too many columns" if len(rel.names) > len(args)
                             else "subquery has too few columns", code="syntax_error")
        args = [meet(a, col)[0] for a, col in zip(args, rel.schema, strict=True)]
        for a, col in zip(args, rel.schema, strict=True):
            compare(op, a, col)  # raises where there is no such operator
            if a.type.name == "enum" and op not in ("=", "<>"):
                raise UnsupportedSql(f"{op} ANY or ALL over enums is not supported", code="unsupported_syntax")
        return Sub("any", rel, tuple(args), op, BOOL)

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
        return self.in_values(self.bind(e.this, c), items)

    def in_values(self, x: Scalar, items: list[Scalar]) -> Scalar:
        if x.type.name == "unknown":
            x = coerce(x, next((i.type for i in items if i.type.name != "unknown"), TEXT))
        parts = [compare("=", x, i) for i in items]
        if all(isinstance(p, Call) and p.fn == "=" and p.args[0] == x for p in parts):
            return Call("in", (x, *[p.args[1] for p in parts]), BOOL)  # type: ignore[attr-defined]
        return Call("or", tuple(parts), BOOL) if len(parts) > 1 else parts[0]

    def between(self, e: Any, c: Clause) -> Scalar:
        x = self.bind(e.this, c)
        low, high = self.bind(e.args["low"], c), self.bind(e.args["high"], c)
        got = conj([compare(">=", x, low), compare("<=", x, high)])
        if e.args.get("symmetric"):
            got = Call("or", (got, conj([compare(">=", x, high), compare("<=", x, low)])), BOOL)
        return negate(got) if e.args.get("negate") else got

    def is_(self, e: Any, c: Clause) -> Scalar:
        right = e.expression
        if isinstance(right, exp.Null) or right.name.upper() == "UNKNOWN":
            if (parts := rows.items(e.this)) is not None:
                return rows.null_test(self, parts, bool(e.args.get("negate")), c)
            got = is_null(self.bind(e.this, c))
        elif isinstance(right, exp.Boolean):
            got = Call("is_true" if right.this else "is_false", (self.condition(e.this, c),), BOOL)
        else:
            raise UnsupportedSql(f"IS {right.sql('postgres')} is not supported", code="unsupported_syntax")
        return negate(got) if e.args.get("negate") else got

    def not_distinct(self, e: Any, c: Clause) -> Scalar:
        if rows.items(e.this) is not None:
            return rows.same_rows(rows.values(self, e.this, c) or [], rows.values(self, e.expression, c) or [])
        got = compare("=", self.bind(e.this, c), self.bind(e.expression, c))
        assert isinstance(got, Call)
        if got.fn == "json_equal":
            nulls = [is_null(a) for a in got.args]
            both = Call("and", tuple(nulls), BOOL)
            return Call("or", (both, Call("coalesce", (got, Lit(False, BOOL)), BOOL)), BOOL)
        return Call("same", got.args, BOOL)

    def distinct_from(self, e: Any, c: Clause) -> Scalar:
        return negate(self.not_distinct(e, c))

    def dpipe(self, e: Any, c: Clause) -> Scalar:
        return concat(self.bind(e.this, c), self.bind(e.expression, c))

    def pow(self, e: Any, c: Clause) -> Scalar:
        return bind_function("power", [self.bind(e.this, c), self.bind(e.expression, c)])

    def bit(self, e: Any, c: Clause) -> Scalar:
        fn = {exp.BitwiseAnd: "bit_and", exp.BitwiseOr: "bit_or", exp.BitwiseXor: "bit_xor",
              exp.BitwiseLeftShift: "shift_left", exp.BitwiseRightShift: "shift_right"}[type(e)]
        a, b = self.bind(e.this, c), self.bind(e.expression, c)
        if not types.is_integer(a.type) or not types.is_integer(b.type):
            raise UnsupportedSql(f"{e.key} of {a.type} and {b.type} is not supported", code="unsupported_function")
        t = a.type if fn.startswith("shift") or types.INTEGERS[a.type.name] >= types.INTEGERS[b.type.name] else b.type
        return Call(fn, (a, b) if fn.startswith("shift") else (cast(a, t), cast(b, t)), t)

    def case_(self, e: Any, c: Clause) -> Scalar:
        operand = self.bind(e.this, c) if e.this is not None else None
        conditions, values = [], []
        for branch in e.args["ifs"]:
            if operand is None:
                conditions.append(self.condition(branch.this, c))
            else:
                conditions.append(compare("=", operand, self.bind(branch.this, c)))
            values.append(self.bind(branch.args["true"], c))
        default = e.args.get("default")
        values.append(self.bind(default, c) if default is not None else Lit(None, types.UNKNOWN))
        got, t = unify([values[-1], *values[:-1]], "CASE")  # Postgres looks at ELSE first
        return case(list(zip(conditions, got[1:], strict=True)), got[0], t)

    def cast_(self, e: Any, c: Clause) -> Scalar:
        text = e.args["to"].sql("postgres")
        t = parse_type(text, self.binder.enums)
        digits = re.fullmatch(r"(?i)(?:timestamp|timestamptz|time)\((\d)\)(?: with(?:out)? time zone)?", text)
        if digits and int(digits[1]) < 6 and t.name in ("timestamp", "timestamptz", "time"):
            return Call("round_time", (explicit_cast(self.bind(e.this, c), t), Lit(int(digits[1]), INT4)), t)
        if t == TEXT and not re.match(r"(?i)(text|varchar|name|character varying)", text):
            raise UnsupportedSql(f"cast to {text.lower()} is not supported", code="unsupported_type")
        return explicit_cast(self.bind(e.this, c), t)

    # -- functions

    def extract_(self, e: Any, c: Clause) -> Scalar:
        return extract(e.this.name, self.bind(e.expression, c))

    def substring(self, e: Any, c: Clause) -> Scalar:
        args = [e.this, e.args.get("start"), e.args.get("length")]
        if args[1] is None and args[2] is not None:
            args[1] = exp.Literal.number(1)
        bound = [self.bind(a, c) for a in args if a is not None]
        if len(bound) > 1 and bound[1].type.name in ("unknown", "text"):
            return Call("regexp_substr", (cast(bound[0], TEXT), cast(bound[1], TEXT)), TEXT)
        return bind_function("substring", bound)

    def trim(self, e: Any, c: Clause) -> Scalar:
        fn = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(e.args.get("position") or "").upper(), "btrim")
        args = [self.bind(e.this, c)]
        if e.expression is not None:
            args.append(self.bind(e.expression, c))
        return bind_function(fn, args)

    def position(self, e: Any, c: Clause) -> Scalar:
        return bind_function("strpos", [self.bind(e.this, c), self.bind(e.args["substr"], c)])

    def overlay(self, e: Any, c: Clause) -> Scalar:
        s, r = self.bind(e.this, c), cast(self.bind(e.expression, c), TEXT)
        start = self.bind(e.args["from_"] if "from_" in e.args else e.args["from"], c)
        n = e.args.get("for_") or e.args.get("for")
        length = self.bind(n, c) if n is not None else bind_function("length", [r])
        head = bind_function("substring", [s, Lit(1, INT4), binary("-", start, Lit(1, INT4))])
        tail = bind_function("substring", [s, binary("+", start, length)])
        return concat(concat(head, r), tail)

    def at_zone(self, e: Any, c: Clause) -> Scalar:
        return at_zone(self.bind(e.this, c), self.bind(e.args["zone"], c))

    def collate(self, e: Any, c: Clause) -> Scalar:
        """Text is ordered by code point everywhere, which is what these collations say."""
        name = e.expression.name.strip('"')
        if name not in ("C", "POSIX", "ucs_basic"):
            raise UnsupportedSql(f'collation "{name}" is not supported', code="unsupported_syntax",
                                 detail="Text is ordered by code point.")
        return self.bind(e.this, c)

    def text_literal(self, e: Any, c: Clause) -> Scalar:
        return Lit(str(e.this), types.UNKNOWN)

    def bit_not(self, e: Any, c: Clause) -> Scalar:
        a = self.bind(e.this, c)
        return binary("-", Lit(-1, a.type), a)

    def square_root(self, e: Any, c: Clause) -> Scalar:
        return bind_function("cbrt" if isinstance(e, exp.Cbrt) else "sqrt", [self.bind(e.this, c)])

    def absolute(self, e: Any, c: Clause) -> Scalar:
        """@ x, which sqlglot reads as a parameter."""
        column = e.this if isinstance(e.this, exp.Column) else exp.column(exp.to_identifier(e.this.name))
        return bind_function("abs", [self.bind(column, c)])

    def starts_with(self, e: Any, c: Clause) -> Scalar:
        return bind_function("starts_with", [self.bind(e.this, c), self.bind(e.expression, c)])

    def exists(self, e: Any, c: Clause) -> Scalar:
        return Sub("exists", self.subquery(e.this.unnest(), c.scope), (), "", BOOL)

    def scalar_subquery(self, e: Any, c: Clause) -> Scalar:
        rel = self.subquery(e.unnest(), c.scope)
        if len(rel.names) != 1:
            raise InvalidSql("subquery must return only one column", code="syntax_error")
        return Sub("scalar", rel, (), "", rel.schema[0].type)

    def function(self, e: Any, c: Clause) -> Scalar:
        name = str(e.this).lower() if not isinstance(e.this, exp.Expr) else e.this.name.lower()
        if name in NOW:
            return self.now(name)
        if name == "array" and len(e.expressions) == 1 and isinstance(e.expressions[0], exp.Query):
            query = e.expressions[0].copy()
            if query.args.get("order") is not None and query.args.get("limit") is None:
                query.set("limit", exp.Limit(expression=exp.Literal.number(2**31 - 1)))  # so that the order is kept
            return array_access.of_subquery(self, self.subquery(query, c.scope))
        if name == "age" and len(e.expressions) == 1:
            return bind_function("age", [self.now("current_date"), self.bind(e.expressions[0], c)])
        if name == "grouping":
            if c.grouping is None:
                raise InvalidSql("GROUPING is not allowed here", code="grouping_error")
            return c.grouping([self.bind(x, c) for x in e.expressions])
        if name in aggregates.NAMES:
            return self.aggregate(e, c)
        if name in aggregates.WINDOW_ONLY:
            raise InvalidSql(f"window function {name} requires an OVER clause", code="windowing_error")
        if name in sets.NAMES:
            return self.set_returning(name, e, c)
        if name in ("to_json", "to_jsonb", "row_to_json") and len(e.expressions) == 1 and (whole := self.whole_row(e.expressions[0], c)):
            return json_values.row(JSONB if name == "to_jsonb" else types.JSON, whole)
        if name == "make_interval" and any(isinstance(x, exp.Kwarg) for x in e.expressions):
            return make_interval({x.this.name.lower(): self.bind(x.expression, c) for x in e.expressions})
        args = [self.bind(x, c) for x in e.expressions]
        if name in JSON_FUNCTIONS:
            make, kind = JSON_FUNCTIONS[name]
            return make(kind, args)
        return bind_function(name, args)

    def whole_row(self, e: exp.Expr, c: Clause) -> list[tuple[str, Scalar]]:
        """The columns of the table that a bare name stands for; none when it is a column."""
        if not isinstance(e, exp.Column) or e.args.get("table") is not None or not isinstance(e.this, exp.Identifier):
            return []
        name = e.this.this if e.this.args.get("quoted") else e.this.this.lower()
        if c.scope.local(None, name) is not None:
            return []
        return next(([(n, col) for n, col in s.columns] for s in c.scope.sources if s.alias == name), [])

    def set_returning(self, name: str, e: exp.Expr, c: Clause) -> Scalar:
        if c.srfs is None:
            raise UnsupportedSql(f"{name}() is not supported in {c.name}", code="unsupported_syntax",
                                 hint="Call it in FROM, with LATERAL.")
        f = sets.set_function(name, [self.bind(x, c) for x in e.expressions])
        if len(f.columns) != 1:
            raise UnsupportedSql(f"{name}() in SELECT gives rows", code="unsupported_syntax", hint="Call it in FROM, with LATERAL.")
        col = Col(self.binder.fresh(name), f.columns[0][1])
        c.srfs.append((f, col))
        return col

    def unnest_(self, e: Any, c: Clause) -> Scalar:
        return self.set_returning("unnest", e, c)

    def known(self, e: Any, c: Clause) -> Scalar:
        """Functions sqlglot gives a class of its own even so."""
        name = e.sql_names()[0].lower() if hasattr(e, "sql_names") else e.key
        return bind_function(name, [self.bind(x, c) for x in e.iter_expressions()])

    # -- aggregates and windows

    def aggregate(self, e: Any, c: Clause) -> Scalar:
        if c.aggs is None:
            raise InvalidSql(f"aggregate functions are not allowed in {c.name}", code="grouping_error")
        inner = Clause(c.scope, "an aggregate's arguments")
        if (several := self.fractions(e)) is not None:
            parts = [self.aggregate(x, c) for x in several]
            return Call("array", tuple(parts), types.array(parts[0].type))
        e = self.rows_as_json(self.rows_counted(e, c), inner)
        agg = aggregates.bind_aggregate(e, lambda x: self.bind(x, inner), lambda x: self.condition(x, inner))
        if agg.fn in ("sum", "avg") and agg.args[0].type.name == "interval":
            return self.interval_total(agg, c)
        read = [x for s in agg.scalars for x in scalar_walk(s)]
        if any(isinstance(x, Outer) for x in read) and not any(isinstance(x, Col) for x in read):
            raise UnsupportedSql("an aggregate over columns of the enclosing query alone belongs to that query", code="unsupported_syntax",
                                 hint="Compute it in the enclosing query's SELECT list.")
        return aggregates.finish(e, self.collected(agg, c), lambda x: self.bind(x, inner))

    def collected(self, agg: Agg, c: Clause) -> Col:
        assert c.aggs is not None
        if agg not in c.aggs:
            c.aggs[agg] = Col(self.binder.fresh(agg.fn), agg.type)
        return c.aggs[agg]

    def interval_total(self, agg: Agg, c: Clause) -> Scalar:
        """Months, days and microseconds of intervals add up each by itself."""
        if agg.distinct:
            raise UnsupportedSql(f"{agg.fn}(DISTINCT …) of intervals is not supported", code="unsupported_function")
        (x,) = agg.args

        def part(name: str) -> Col:
            piece = Call("interval_part", (Lit(name, TEXT), x), INT8)
            return self.collected(Agg("sum", (piece,), types.sum_type(INT8), agg.filter), c)

        total = Call("interval_make", (part("months"), part("days"), part("micros")), INTERVAL)
        if agg.fn == "sum":
            return total
        return Call("/", (total, self.collected(Agg("count", (x,), INT8, agg.filter), c)), INTERVAL)

    def fractions(self, e: Any) -> list[exp.Expr] | None:
        """percentile_cont(ARRAY[…]): one call for each fraction; None for anything else."""
        call = e.this if isinstance(e, exp.Filter) else e
        if not isinstance(call, exp.WithinGroup) or len(call.this.expressions) != 1 or not isinstance(call.this.expressions[0], exp.Array):
            return None
        out = []
        for i in range(len(call.this.expressions[0].expressions)):
            one = e.copy()
            inner = (one.this if isinstance(e, exp.Filter) else one).this
            inner.set("expressions", [inner.expressions[0].expressions[i]])
            out.append(one)
        return out

    def rows_counted(self, e: Any, c: Clause) -> Any:
        """count(t.*) counts the rows that are there: those whose key is."""
        call = e.this if isinstance(e, exp.Filter) else e
        if not isinstance(call, exp.Anonymous) or str(call.this).lower() != "count" or len(call.expressions) != 1:
            return e
        arg = call.expressions[0]
        alias = arg.args.get("table") if isinstance(arg, exp.Column) and isinstance(arg.this, exp.Star) else None
        if alias is None:
            return e
        name = alias.this if alias.args.get("quoted") else alias.this.lower()
        table = next((s.table for s in c.scope.sources if s.alias == name), None)
        if table is None or not table.key:
            raise UnsupportedSql(f"count({name}.*) of what is no table with a key is not supported", code="unsupported_syntax",
                                 hint="Count a column that is never NULL.")
        e = e.copy()
        call = e.this if isinstance(e, exp.Filter) else e
        call.set("expressions", [exp.column(exp.to_identifier(table.key[0], quoted=True), table=alias.copy())])
        return e

    def rows_as_json(self, e: Any, c: Clause) -> Any:
        """json_agg of a table's name aggregates its rows as objects."""
        call = e.this if isinstance(e, exp.Filter) else e
        if not isinstance(call, exp.Anonymous) or str(call.this).lower() not in json_values.AGGREGATES or not call.expressions:
            return e
        arg = call.expressions[0].this if isinstance(call.expressions[0], exp.Order) else call.expressions[0]
        if self.whole_row(arg, c):
            e = e.copy()
            call = e.this if isinstance(e, exp.Filter) else e
            arg = call.expressions[0].this if isinstance(call.expressions[0], exp.Order) else call.expressions[0]
            arg.replace(exp.Anonymous(this="to_jsonb" if str(call.this).lower() == "jsonb_agg" else "to_json", expressions=[arg.copy()]))
        return e

    def window(self, e: Any, c: Clause) -> Scalar:
        if c.windows is None:
            raise InvalidSql(f"window functions are not allowed in {c.name}", code="windowing_error")
        inner = Clause(c.scope, "a window's definition", aggs=c.aggs, grouping=c.grouping)
        partition, spec = aggregates.bind_window(
            e, c.named_windows, lambda x: self.bind(x, inner), lambda x: self.condition(x, inner))
        key = (partition, spec)
        if key not in c.windows:
            c.windows[key] = Col(self.binder.fresh(spec.fn), spec.type)
        return c.windows[key]


def explicit_cast(x: Scalar, t: Type) -> Scalar:
    """CAST as Postgres does it, checked for casts Postgres does not have."""
    s = x.type
    if s.name == "unknown":
        if t.name == "numeric" and isinstance(x, Lit) and isinstance(x.value, str):
            return cast(number(x.value), t) if t.precision != 38 else number(x.value)
        return cast(x, t) if not (t.name == "varchar" and isinstance(x, Lit)) else cast(x, t)
    if t.name == "numeric" and t.scale == types.UNBOUNDED_SCALE and t.precision == types.MAX_PRECISION:
        if types.is_exact(s):
            return x if types.is_numeric(s) else cast(x, types.as_numeric(s))
        if types.is_float(s):
            return Call("cast", (x,), types.numeric(38, 15))
    if s.name == "bool" and types.is_number(t) and t.name != "int4" or types.is_number(s) and t.name == "bool" and s.name != "int4":
        raise InvalidSql(f"cannot cast type {s} to {t}", code="cannot_coerce")
    if t.name in types.TEMPORALS | {"time", "interval"} and types.is_number(s):
        raise InvalidSql(f"cannot cast type {s} to {t}", code="cannot_coerce")
    return cast(x, t)


METHODS: dict[type, Callable[[Expressions, Any, Clause], Scalar]] = {
    exp.Column: Expressions.column, exp.Literal: Expressions.literal, exp.Boolean: Expressions.boolean,
    exp.Null: Expressions.null, exp.Paren: Expressions.paren, exp.Interval: Expressions.interval,
    exp.Neg: Expressions.neg, exp.And: Expressions.and_, exp.Or: Expressions.or_, exp.Not: Expressions.not_,
    exp.In: Expressions.in_, exp.Between: Expressions.between, exp.Is: Expressions.is_,
    exp.NullSafeEQ: Expressions.not_distinct, exp.NullSafeNEQ: Expressions.distinct_from,
    exp.DPipe: Expressions.dpipe, exp.Pow: Expressions.pow, exp.Case: Expressions.case_, exp.Cast: Expressions.cast_,
    exp.Extract: Expressions.extract_, exp.Substring: Expressions.substring, exp.Trim: Expressions.trim,
    exp.StrPosition: Expressions.position, exp.Overlay: Expressions.overlay, exp.AtTimeZone: Expressions.at_zone,
    exp.Collate: Expressions.collate, exp.Cbrt: Expressions.square_root, exp.Parameter: Expressions.absolute,
    exp.ByteString: Expressions.text_literal, exp.RawString: Expressions.text_literal,
    exp.BitwiseNot: Expressions.bit_not, exp.Sqrt: Expressions.square_root, exp.StartsWith: Expressions.starts_with,
    exp.Exists: Expressions.exists, **patterns.METHODS, **json_access.METHODS, **array_access.METHODS, **rows.METHODS,
    exp.Subquery: Expressions.scalar_subquery, exp.Select: Expressions.scalar_subquery,
    exp.Anonymous: Expressions.function, exp.Filter: Expressions.aggregate, exp.WithinGroup: Expressions.aggregate,
    exp.Window: Expressions.window, exp.Unnest: Expressions.unnest_,
    exp.BitwiseAnd: Expressions.bit, exp.BitwiseOr: Expressions.bit, exp.BitwiseXor: Expressions.bit,
    exp.BitwiseLeftShift: Expressions.bit, exp.BitwiseRightShift: Expressions.bit,
}
