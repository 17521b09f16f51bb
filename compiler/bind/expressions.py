"""Syntax of an expression to a typed scalar. One method a kind of syntax; subqueries and aggregates call back."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sqlglot import exp

from compiler.bind import array_access, json_access, patterns, ranges, rows, whole_rows
from compiler.bind.calls import NOW, Calls, now
from compiler.bind.casts import explicit_cast
from compiler.bind.clause import Clause, begins
from compiler.bind.coerce import coerce, number, unify
from compiler.bind.functions import arrays, bind_function, check_call
from compiler.bind.functions.regexes import first_group
from compiler.bind.functions.times import extract
from compiler.bind.json_casts import as_jsonb
from compiler.bind.names import schema_of
from compiler.bind.operators import binary, compare, concat
from compiler.bind.predicates import Predicates
from compiler.catalog import parse_type
from compiler.errors import TidemarkError, UnsupportedSql
from compiler.ir import types
from compiler.ir.scalar import Call, Lit, Scalar, case, cast, read_literal
from compiler.ir.types import BOOL, INT4, INT8, INTERVAL

COMPARISONS: dict[type, str] = {exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
ARITHMETIC: dict[type, str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.IntDiv: "/"}
FRACTION = re.compile(r"[+-]?\d*\.\d*")
RANGES: dict[type, str] = {exp.ExtendsLeft: "&<", exp.ExtendsRight: "&>", exp.Adjacent: "-|-"}


class Expressions(Predicates, Calls):
    """Binds expressions within one query block."""

    def bind(self, e: Any, c: Clause) -> Scalar:
        """A typed scalar of an expression, subqueries within it. Raises TidemarkError with the place it stands at."""
        try:
            method = METHODS.get(type(e))
            if method is not None:
                return method(self, e, c)
            if type(e) in COMPARISONS:
                return self.comparison(COMPARISONS[type(e)], e.this, e.expression, c)
            if type(e) in ARITHMETIC:
                return binary(ARITHMETIC[type(e)], self.bind(e.this, c), self.bind(e.expression, c))
        except TidemarkError as error:
            if error.at is None:
                error.at = begins(e)
            raise
        raise UnsupportedSql(
            f"{e.key.upper()} is not supported in {c.name}", code="unsupported_syntax", detail=e.sql("postgres")[:200]
        )

    def column(self, e: Any, c: Clause) -> Scalar:
        """A column in sight, or one of the values that Postgres writes like a column. Raises InvalidSql where there is
        none or more than one, UnsupportedSql for whole rows and for who is asking."""
        ident = e.this
        if isinstance(ident, exp.Star):
            raise UnsupportedSql(
                "a whole row as a value (*) is not supported here",
                code="unsupported_syntax",
                hint="Name its columns, or take it as to_jsonb(t).",
            )
        quoted = ident.args.get("quoted")
        name = ident.this if quoted else ident.this.lower()
        table = e.args.get("table")
        alias = None if table is None else (table.this if table.args.get("quoted") else table.this.lower())
        if alias is None and not quoted and name in NOW:
            return now(name)
        if alias is None and not quoted and name in ("current_user", "session_user", "user", "current_role"):
            raise UnsupportedSql(
                f"the view reads {name}", code="volatile_function", detail="Its value is not a function of the tables."
            )
        return c.scope.resolve(alias, name, schema_of(e))

    def continued(self, e: Any, c: Clause) -> Scalar:
        """'one' and, on a line of its own, 'two': one literal."""
        if not all(isinstance(x, exp.Literal) and x.is_string for x in e.expressions):
            raise UnsupportedSql(
                "values side by side are not supported", code="unsupported_syntax", detail=e.sql("postgres")[:200]
            )
        return Lit("".join(x.this for x in e.expressions), types.UNKNOWN, e.expressions[0].meta.get("start"))

    def literal(self, e: Any, c: Clause) -> Scalar:
        if e.is_string:
            return Lit(e.this, types.UNKNOWN, e.meta.get("start"))
        if re.fullmatch(r"\d+", e.this):
            n = int(e.this)
            if n < 2**31:
                return Lit(n, INT4)
            return Lit(n, INT8) if n < 2**63 else number(e.this)
        found = number(e.this)
        beyond = (
            len(str(found.value).replace(".", "").lstrip("-0")) > types.MAX_PRECISION
            or (found.type.scale or 0) > types.MAX_PRECISION
        )
        return Lit(e.this, types.FLOAT8) if beyond else found

    def boolean(self, e: Any, c: Clause) -> Scalar:
        return Lit(bool(e.this), BOOL)

    def null(self, e: Any, c: Clause) -> Scalar:
        return Lit(None, types.UNKNOWN)

    def paren(self, e: Any, c: Clause) -> Scalar:
        return self.bind(e.this, c)

    def interval(self, e: Any, c: Clause) -> Scalar:
        """interval '…' and a unit, where one is said. Raises InvalidSql for what is no interval, UnsupportedSql for one
        of a column."""
        unit = e.args.get("unit")
        if not isinstance(e.this, exp.Literal):
            raise UnsupportedSql(
                "an interval of a column needs multiplication",
                code="unsupported_syntax",
                hint="Write n * interval '1 day'.",
            )
        text, at = str(e.this.this), e.this.meta.get("start")
        if unit is not None:
            read_literal(Lit(text, types.UNKNOWN, at), INTERVAL)
            if FRACTION.fullmatch(text.strip()) and unit.name.upper() != "SECOND":  # what is finer is cut off
                text = text.strip().partition(".")[0]
                text = text if text.strip("+-") else "0"
            text = f"{text} {unit.name.lower()}"
        return cast(Lit(text, types.UNKNOWN, at), INTERVAL)

    def neg(self, e: Any, c: Clause) -> Scalar:
        x = coerce(self.bind(e.this, c), INT4)
        if isinstance(x, Lit) and isinstance(x.value, int) and not isinstance(x.value, bool):
            return Lit(-x.value, x.type)
        return Call("neg", (x,), x.type)

    def dpipe(self, e: Any, c: Clause) -> Scalar:
        a, b = self.bind(e.this, c), self.bind(e.expression, c)
        return arrays.concat(a, b) if "array" in (a.type.name, b.type.name) else concat(a, b)

    def pow(self, e: Any, c: Clause) -> Scalar:
        return bind_function("power", [self.bind(e.this, c), self.bind(e.expression, c)])

    def bit(self, e: Any, c: Clause) -> Scalar:
        """Operators on bits of integers, and where ranges are before one another. Raises UnsupportedSql for others."""
        fn = {
            exp.BitwiseAnd: "bit_and",
            exp.BitwiseOr: "bit_or",
            exp.BitwiseXor: "bit_xor",
            exp.BitwiseLeftShift: "shift_left",
            exp.BitwiseRightShift: "shift_right",
        }[type(e)]
        a, b = self.bind(e.this, c), self.bind(e.expression, c)
        if fn.startswith("shift") and (ranges.spans(a.type) or ranges.spans(b.type)):
            return ranges.operator("<<" if fn == "shift_left" else ">>", a, b)
        a, b = coerce(a, b.type), coerce(b, INT4 if fn.startswith("shift") else a.type)
        if not types.is_integer(a.type) or not types.is_integer(b.type):
            raise UnsupportedSql(f"{e.key} of {a.type} and {b.type} is not supported", code="unsupported_function")
        t = a.type if fn.startswith("shift") or types.INTEGERS[a.type.name] >= types.INTEGERS[b.type.name] else b.type
        return Call(fn, (a, b) if fn.startswith("shift") else (cast(a, t), cast(b, t)), t)

    def of_ranges(self, e: Any, c: Clause) -> Scalar:
        op, a, b = RANGES[type(e)], self.bind(e.this, c), self.bind(e.expression, c)
        if not (ranges.spans(a.type) or ranges.spans(b.type)):
            raise UnsupportedSql(f"{op} of {a.type} and {b.type} is not supported", code="unsupported_function")
        return ranges.operator(op, a, b)

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
        """CAST and ::, of arrays element by element, of short times with rounding. Raises UnsupportedSql for types that
        are not held."""
        text = e.args["to"].sql("postgres")
        t = parse_type(text, self.binder.enums)
        digits = re.fullmatch(r"(?i)(?:timestamp|timestamptz|time)\((\d)\)(?: with(?:out)? time zone)?", text)
        if digits and int(digits[1]) < 6 and t.name in ("timestamp", "timestamptz", "time"):
            return Call("round_time", (explicit_cast(self.bind(e.this, c), t), Lit(int(digits[1]), INT4)), t)
        if ranges.spans(t) and (got := ranges.casted(self.bind(e.this, c), t)) is not None:
            return got
        if t.name == "opaque" or t.name == "interval" and text.lower() != "interval":
            raise UnsupportedSql(f"cast to {text.lower()} is not supported", code="unsupported_type")
        if (
            isinstance(e.this, exp.Array)
            and t.name == "array"
            and t.element is not None
            and not any(isinstance(x, exp.Array) for x in e.this.expressions)
        ):
            return Call("array", tuple(explicit_cast(self.bind(x, c), t.element) for x in e.this.expressions), t)
        if t == types.JSONB and (built := as_jsonb(e.this)) is not None:
            try:
                return explicit_cast(self.bind(built, c), t)
            except UnsupportedSql:  # json columns within: deploy warns of what stays as it is written
                pass
        return explicit_cast(self.bind(e.this, c), t)

    def extract_(self, e: Any, c: Clause) -> Scalar:
        return extract(e.this.name, self.bind(e.expression, c))

    def substring(self, e: Any, c: Clause) -> Scalar:
        """SUBSTRING by places or by a regular expression. Raises UnsupportedSql for SQL's own patterns (ESCAPE)."""
        args = [e.this, e.args.get("start"), e.args.get("length")]
        bound = [self.bind(a, c) for a in args if a is not None]
        alone = isinstance(args[1], exp.Literal) and "start" not in args[1].meta  # FOR without FROM, which is 1
        if len(bound) > 2 and alone:
            bound[2] = explicit_cast(bound[2], INT4)
        check_call("substring", bound)
        if len(bound) > 2 and (types.is_string(bound[2].type) or bound[2].type.name == "unknown"):
            raise UnsupportedSql(
                "SUBSTRING with a pattern and an escape is not supported",
                code="unsupported_function",
                hint="Write the pattern as a regular expression: substring(x FROM 'pattern').",
            )
        if bound[0].type.name != "bytea" and (types.is_string(bound[1].type) or bound[1].type.name == "unknown"):
            return first_group(bound[0], bound[1])
        return bind_function("substring", bound)

    def trim(self, e: Any, c: Clause) -> Scalar:
        fn = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(e.args.get("position") or "").upper(), "btrim")
        args = [self.bind(e.this, c)]
        if e.expression is not None:
            args.append(self.bind(e.expression, c))
        return bind_function(fn, args)

    def position(self, e: Any, c: Clause) -> Scalar:
        return bind_function("position", [self.bind(e.args["substr"], c), self.bind(e.this, c)])

    def overlay(self, e: Any, c: Clause) -> Scalar:
        start = e.args["from_"] if "from_" in e.args else e.args["from"]
        length = e.args.get("for_") or e.args.get("for")
        return bind_function(
            "overlay", [self.bind(x, c) for x in (e.this, e.expression, start, length) if x is not None]
        )

    def at_zone(self, e: Any, c: Clause) -> Scalar:
        return bind_function("timezone", [self.bind(e.args["zone"], c), self.bind(e.this, c)])

    def collate(self, e: Any, c: Clause) -> Scalar:
        """Text is ordered by code point everywhere, which is what these collations say."""
        name = e.expression.name.strip('"')
        if name not in ("C", "POSIX", "ucs_basic"):
            raise UnsupportedSql(
                f'collation "{name}" is not supported',
                code="unsupported_syntax",
                detail="Text is ordered by code point.",
            )
        return self.bind(e.this, c)

    def text_literal(self, e: Any, c: Clause) -> Scalar:
        return Lit(str(e.this), types.UNKNOWN, e.meta.get("start"))

    def bit_not(self, e: Any, c: Clause) -> Scalar:
        a = self.bind(e.this, c)
        return binary("-", Lit(-1, a.type), a)

    def square_root(self, e: Any, c: Clause) -> Scalar:
        return bind_function("cbrt" if isinstance(e, exp.Cbrt) else "sqrt", [self.bind(e.this, c)])

    def absolute(self, e: Any, c: Clause) -> Scalar:
        """@ x, which sqlglot reads as a parameter."""
        node = e
        while isinstance(node.parent, exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Mod | exp.Pow | exp.Neg):
            if not isinstance(node.parent, exp.Neg) and node.parent.this is node:
                raise UnsupportedSql(
                    "@ before arithmetic takes all of it", code="unsupported_syntax", hint="Write abs(…)."
                )
            node = node.parent
        if not isinstance(e.this, exp.Column | exp.Var | exp.Identifier):
            return bind_function("abs", [self.bind(e.this, c)])
        column = e.this if isinstance(e.this, exp.Column) else exp.column(exp.to_identifier(e.this.name))
        return bind_function("abs", [self.bind(column, c)])

    def starts_with(self, e: Any, c: Clause) -> Scalar:
        return bind_function("starts_with", [self.bind(e.this, c), self.bind(e.expression, c)])


METHODS: dict[type, Callable[[Expressions, Any, Clause], Scalar]] = {
    exp.Concat: Expressions.continued,
    exp.Column: Expressions.column,
    exp.Literal: Expressions.literal,
    exp.Boolean: Expressions.boolean,
    exp.Null: Expressions.null,
    exp.Paren: Expressions.paren,
    exp.Interval: Expressions.interval,
    exp.Neg: Expressions.neg,
    exp.And: Expressions.and_,
    exp.Or: Expressions.or_,
    exp.Not: Expressions.not_,
    exp.In: Expressions.in_,
    exp.Between: Expressions.between,
    exp.Is: Expressions.is_,
    exp.NullSafeEQ: Expressions.not_distinct,
    exp.NullSafeNEQ: Expressions.distinct_from,
    exp.DPipe: Expressions.dpipe,
    exp.Pow: Expressions.pow,
    exp.Case: Expressions.case_,
    exp.Cast: Expressions.cast_,
    exp.Extract: Expressions.extract_,
    exp.Substring: Expressions.substring,
    exp.Trim: Expressions.trim,
    exp.StrPosition: Expressions.position,
    exp.Overlay: Expressions.overlay,
    exp.AtTimeZone: Expressions.at_zone,
    exp.Collate: Expressions.collate,
    exp.Cbrt: Expressions.square_root,
    exp.Parameter: Expressions.absolute,
    exp.ByteString: Expressions.text_literal,
    exp.RawString: Expressions.text_literal,
    exp.BitwiseNot: Expressions.bit_not,
    exp.Sqrt: Expressions.square_root,
    exp.StartsWith: Expressions.starts_with,
    exp.Exists: Expressions.exists,
    **patterns.METHODS,
    **json_access.METHODS,
    **array_access.METHODS,
    **rows.METHODS,
    **whole_rows.METHODS,
    exp.Subquery: Expressions.scalar_subquery,
    exp.Select: Expressions.scalar_subquery,
    exp.Anonymous: Expressions.function,
    exp.Filter: Expressions.aggregate,
    exp.WithinGroup: Expressions.aggregate,
    exp.Window: Expressions.window,
    exp.Unnest: Expressions.unnest_,
    exp.BitwiseAnd: Expressions.bit,
    exp.BitwiseOr: Expressions.bit,
    exp.BitwiseXor: Expressions.bit,
    exp.BitwiseLeftShift: Expressions.bit,
    exp.BitwiseRightShift: Expressions.bit,
    **dict.fromkeys(RANGES, Expressions.of_ranges),
}
