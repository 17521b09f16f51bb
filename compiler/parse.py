"""Text to a syntax tree: sqlglot's Postgres grammar, with functions left under the names they were written with."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any, ClassVar

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.dialects.postgres import Postgres

from compiler.errors import InvalidSql


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
        FUNCTION_PARSERS = {k: v for k, v in Postgres.Parser.FUNCTION_PARSERS.items()
                            if k in ("CAST", "EXTRACT", "SUBSTRING", "TRIM", "POSITION", "OVERLAY")}
        NO_PAREN_FUNCTIONS: ClassVar[dict[Any, Any]] = {}
        TYPE_LITERAL_PARSERS = {t: _typed_literal for t in exp.DType}

        def _parse_cube_or_rollup(self, with_prefix: bool = False) -> Any:
            """Their parts may be conditions, which sqlglot stops short of."""
            for token, kind in ((TokenType.CUBE, exp.Cube), (TokenType.ROLLUP, exp.Rollup)):
                if self._match(token):
                    return self.expression(kind(expressions=[] if with_prefix else self._parse_wrapped_csv(self._parse_disjunction)))
            return None

        def _parse_grouping_set(self) -> Any:
            return self._parse_grouping_sets() or self._parse_cube_or_rollup() or self._parse_disjunction()

        def _parse_join(self, skip_join_token: bool = False, parse_bracket: bool = False, alias_tokens: Any = None) -> Any:
            """ON and USING close the nearest JOIN that is open: joins before them belong to its right side (`within`)."""
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
                inner = None if self._match(TokenType.COMMA, advance=False) else self._parse_join(alias_tokens=alias_tokens)
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
            """The text of an interval is left whole: sqlglot keeps one number and unit of it."""
            start = self._index
            got = super()._parse_interval(*args, **kwargs)
            text = self._tokens[start + 1] if start + 1 < len(self._tokens) else None
            if isinstance(got, exp.Interval) and text is not None and text.token_type == TokenType.STRING and self._index == start + 2:
                return exp.Interval(this=exp.Literal.string(text.text))
            return got


@dataclass(frozen=True)
class ViewText:
    """A view as its author wrote it: name, SELECT and WITH options."""

    name: str
    sql: str
    query: exp.Expr = field(compare=False)
    options: dict[str, str] = field(default_factory=dict)


def _fail(what: str, e: sqlglot.errors.SqlglotError) -> InvalidSql:
    first = getattr(e, "errors", None) or [{}]
    line, column = first[0].get("line"), first[0].get("col")
    where = f"line {line}, column {column}: " if line else ""
    text = first[0].get("description") or str(e).split("\n")[0]
    return InvalidSql(f"{what} does not parse", detail=f"{where}{text}", code="syntax_error",
                      hint="Tidemark reads Postgres' SQL; try the SELECT in psql.")


@functools.lru_cache(maxsize=4096)
def _parse(sql: str) -> exp.Expr:
    return sqlglot.parse_one(sql, read=PostgresSource)


def parse_query(sql: str, what: str = "the query") -> exp.Expr:
    """A SELECT, VALUES or set operation; raises InvalidSql."""
    try:
        tree = _parse(sql).copy()
    except (sqlglot.errors.SqlglotError, RecursionError) as e:
        raise _fail(what, e) if isinstance(e, sqlglot.errors.SqlglotError) else InvalidSql(
            f"{what} is nested too deeply") from e
    if not isinstance(tree, (exp.Query, exp.Values)):
        raise InvalidSql(f"{what} is not a query", detail=f"It is a {tree.key.upper()} statement.")
    return tree


def parse_view(text: str, file: str = "") -> ViewText:
    """One CREATE [MATERIALIZED] VIEW name [WITH (…)] AS query; raises InvalidSql."""
    what = f'view file "{file}"' if file else "the view"
    text = _quote_name(text)
    try:
        statements = [s for s in sqlglot.parse(text, read=PostgresSource) if s is not None]
    except sqlglot.errors.SqlglotError as e:
        raise _fail(what, e) from e
    statements = [s for s in statements if not isinstance(s, exp.Semicolon)]
    if len(statements) != 1 or not isinstance(statements[0], exp.Create) or statements[0].kind != "VIEW":
        if len(statements) == 1 and _creates_view(text) and (query := _source_of(text)) != text:
            parse_query(query, what)  # what sqlglot cannot read it keeps as text; this tells where it stopped
        raise InvalidSql(f"{what} holds no CREATE MATERIALIZED VIEW statement",
                         hint="Write one CREATE MATERIALIZED VIEW name AS SELECT … a file.", code="syntax_error")
    create = statements[0]
    target = create.this.this if isinstance(create.this, exp.Schema) else create.this
    name = target.this.this if target.this.args.get("quoted") else target.this.this.lower()
    query = create.expression
    if not isinstance(query, (exp.Query, exp.Values)):
        raise InvalidSql(f"{what} has no query after AS", code="syntax_error")
    if isinstance(create.this, exp.Schema):
        query.set("_columns", [_name(c) for c in create.this.expressions])
    return ViewText(name, _source_of(text), query, _options(create))


def _quote_name(text: str) -> str:
    """A view may be called by any word, also one that the grammar keeps for itself: quote it."""
    try:
        tokens = sqlglot.tokenize(text, read="postgres")
    except sqlglot.errors.SqlglotError:
        return text
    words = [t.text.upper() for t in tokens[:8]]
    if "VIEW" not in words:
        return text
    at = words.index("VIEW") + 1
    if words[at:at + 3] == ["IF", "NOT", "EXISTS"]:
        at += 3
    if at >= len(tokens):
        return text
    t = tokens[at]
    follows = tokens[at + 1].text if at + 1 < len(tokens) else ""
    if t.text.replace("_", "a").isalnum() and text[t.start] != '"' and follows != ".":
        return f'{text[:t.start]}"{t.text.lower()}"{text[t.end + 1:]}'
    return text


def _creates_view(text: str) -> bool:
    words = [t.text.upper() for t in sqlglot.tokenize(text, read="postgres")[:5]]
    return words[:1] == ["CREATE"] and "VIEW" in words


def _name(e: exp.Expr) -> str:
    i = e if isinstance(e, exp.Identifier) else e.this
    return str(i.this if i.args.get("quoted") else i.this.lower())


def _source_of(text: str) -> str:
    """The query's own text, after the first AS that follows the view's name and options."""
    depth, tokens = 0, sqlglot.tokenize(text, read="postgres")
    for i, t in enumerate(tokens):
        if t.token_type == sqlglot.TokenType.L_PAREN:
            depth += 1
        elif t.token_type == sqlglot.TokenType.R_PAREN:
            depth -= 1
        elif t.token_type == sqlglot.TokenType.ALIAS and depth == 0:
            end = next((s.start for s in tokens[i:] if s.token_type == sqlglot.TokenType.SEMICOLON), len(text))
            return text[t.end + 1:end].strip()
    return text


def _options(create: exp.Create) -> dict[str, str]:
    out: dict[str, str] = {}
    properties = create.args.get("properties")
    for p in properties.expressions if properties else []:
        if isinstance(p, exp.MaterializedProperty):
            continue
        value = p.args.get("value") or (None if isinstance(p.this, exp.Identifier) else p.this)
        key = p.name if isinstance(p, exp.Property) and type(p) is exp.Property else p.key.removesuffix("property")
        out[str(key).lower()] = value.name if isinstance(value, exp.Expr) else str(value)
    return out
