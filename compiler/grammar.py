"""sqlglot's Postgres grammar, with functions left under the names they were written with."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import TokenType, exp
from sqlglot.dialects.postgres import Postgres


def _typed_literal(parser: Any, this: exp.Expr, to: exp.DataType) -> exp.Expr:
    """`date '2026-01-01'::text`: the type belongs to the literal, what follows is applied to that."""
    inner = this
    while not isinstance(inner, exp.Literal):
        inner = inner.this
    if inner is this:
        return exp.Cast(this=this, to=to)
    inner.replace(exp.Cast(this=inner.copy(), to=to))
    return this


class PostgresSource(Postgres):
    """Postgres, but no function is given another's name: what a name means is decided by `bind`."""

    INDEX_OFFSET = 0  # subscripts stay as they were written

    class Parser(Postgres.Parser):  # type: ignore[misc, valid-type]
        LAMBDAS = {k: v for k, v in Postgres.Parser.LAMBDAS.items() if k == TokenType.FARROW}  # `->` is JSON's
        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        FUNCTION_PARSERS = {
            k: v
            for k, v in Postgres.Parser.FUNCTION_PARSERS.items()
            if k in ("CAST", "EXTRACT", "SUBSTRING", "TRIM", "POSITION", "OVERLAY")
        }
        NO_PAREN_FUNCTIONS: ClassVar[dict[Any, Any]] = {}
        # a prefix operator takes what binds tighter than it: ~ a + b is ~ (a + b)
        UNARY_PARSERS = {
            **Postgres.Parser.UNARY_PARSERS,
            TokenType.RLIKE: lambda self: self.expression(exp.BitwiseNot(this=self._parse_term())),
            TokenType.PIPE_SLASH: lambda self: self.expression(exp.Sqrt(this=self._parse_term())),
            TokenType.DPIPE_SLASH: lambda self: self.expression(exp.Cbrt(this=self._parse_term())),
        }
        TYPE_LITERAL_PARSERS = {t: _typed_literal for t in exp.DType}

        def _parse_cube_or_rollup(self, with_prefix: bool = False) -> Any:
            """Their parts may be conditions, which sqlglot stops short of."""
            for token, kind in ((TokenType.CUBE, exp.Cube), (TokenType.ROLLUP, exp.Rollup)):
                if self._match(token):
                    return self.expression(
                        kind(expressions=[] if with_prefix else self._parse_wrapped_csv(self._parse_disjunction))
                    )
            return None

        def _parse_grouping_set(self) -> Any:
            return self._parse_grouping_sets() or self._parse_cube_or_rollup() or self._parse_disjunction()

        def _parse_join(
            self, skip_join_token: bool = False, parse_bracket: bool = False, alias_tokens: Any = None
        ) -> Any:
            """ON and USING close the nearest JOIN that is open: joins before them belong to its right side
            (`within`)."""
            index = self._index
            if skip_join_token or self._match(TokenType.COMMA, advance=False):
                return super()._parse_join(skip_join_token, parse_bracket, alias_tokens)
            method, side, kind = self._parse_join_parts()
            if not self._match(TokenType.JOIN):
                self._retreat(index)
                return None
            words = {k: t.text.upper() for k, t in (("method", method), ("side", side), ("kind", kind)) if t}
            join = self.expression(exp.Join(this=self._parse_table(alias_tokens=alias_tokens), **words))
            if words.get("kind") == "CROSS" or words.get("method") == "NATURAL":
                return join
            within = []
            while not self._match_set((TokenType.ON, TokenType.USING), advance=False):
                inner = (
                    None if self._match(TokenType.COMMA, advance=False) else self._parse_join(alias_tokens=alias_tokens)
                )
                if inner is None:
                    self.raise_error("JOIN needs ON or USING")
                    return join
                within.append(inner)
            if self._match(TokenType.ON):
                join.set("on", self._parse_disjunction())
            elif self._match(TokenType.USING):
                join.set("using", self._parse_using_identifiers())
            join.set("within", within)
            return join

        def _parse_using_identifiers(self) -> Any:
            """USING (…) AS alias: the alias comes last."""
            names = super()._parse_using_identifiers()
            return [*names, exp.TableAlias(this=self._parse_id_var())] if self._match(TokenType.ALIAS) else names

        def _parse_interval(self, *args: Any, **kwargs: Any) -> Any:
            """The text of an interval is left whole: sqlglot keeps one number and unit of it. Where another word than a
            unit comes after it, that is an alias."""
            start = self._index
            kind, text, unit = (self._tokens[start + i] if start + i < len(self._tokens) else None for i in range(3))
            if (
                kind is not None
                and kind.token_type == TokenType.INTERVAL
                and text is not None
                and text.token_type == TokenType.STRING
                and (unit is None or unit.text.upper() not in PostgresSource.VALID_INTERVAL_UNITS)
            ):
                self._advance(2)
                whole = exp.Literal.string(text.text)
                whole.meta["start"] = text.start
                return exp.Interval(this=whole)
            return super()._parse_interval(*args, **kwargs)


# What Postgres takes after INTERVAL; another word is an alias: sqlglot reads `x::interval m` as one of minutes. It adds
# what is short for a unit when it makes a dialect.
PostgresSource.VALID_INTERVAL_UNITS = {"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"}
