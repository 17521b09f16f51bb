"""Text to a syntax tree: Postgres' parser says whether it is SQL, sqlglot's makes the tree."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp

from compiler import syntax
from compiler.errors import InvalidSql, Place, TidemarkError, UnsupportedSql
from compiler.grammar import PostgresSource


@dataclass(frozen=True)
class ViewText:
    """A view as its author wrote it: name, SELECT and WITH options; `text` is all of the file."""

    name: str
    sql: str
    query: exp.Expr = field(compare=False)
    options: dict[str, str] = field(default_factory=dict)
    text: str = field(default="", compare=False)


def _fail(what: str, e: sqlglot.errors.SqlglotError) -> TidemarkError:
    """What sqlglot does not read: wrong, or, where Postgres' parser was asked and takes it, not supported."""
    first = getattr(e, "errors", None) or [{}]
    line, column = first[0].get("line"), first[0].get("col")
    where = f"line {line}, column {column}: " if line else ""
    text = f"{where}{first[0].get('description') or str(e).split(chr(10))[0]}"
    if syntax.available():
        return UnsupportedSql(f"{what} uses syntax that is not supported", detail=text, code="unsupported_syntax")
    return InvalidSql(
        f"{what} does not parse",
        detail=text,
        code="syntax_error",
        hint="Tidemark reads Postgres' SQL; try the SELECT in psql.",
    )


def locate(e: TidemarkError, file: str, text: str) -> TidemarkError:
    """The error with its place in a view file, for people, and that of others of the view."""
    for x in (e, *e.others):
        x.place = Place.of(file, text, x.at) if x.at is not None and x.at <= len(text) else Place(file)
    return e


@functools.lru_cache(maxsize=4096)
def _parse(sql: str) -> exp.Expr:
    return sqlglot.parse_one(sql, read=PostgresSource)


def parse_query(sql: str, what: str = "the query") -> exp.Expr:
    """A SELECT, VALUES or set operation; raises InvalidSql."""
    try:
        tree = _parse(sql).copy()
    except (sqlglot.errors.SqlglotError, RecursionError) as e:
        syntax.check(sql)
        raise (
            _fail(what, e) if isinstance(e, sqlglot.errors.SqlglotError) else InvalidSql(f"{what} is nested too deeply")
        ) from e
    if not isinstance(tree, (exp.Query, exp.Values)):
        raise InvalidSql(f"{what} is not a query", detail=f"It is a {tree.key.upper()} statement.")
    return tree


def parse_view(text: str, file: str = "") -> ViewText:
    """One CREATE [MATERIALIZED] VIEW name [WITH (…)] AS query; raises InvalidSql."""
    what = f'view file "{file}"' if file else "the view"
    written, (text, named) = text, _quote_name(text)
    try:
        syntax.check(text)
    except InvalidSql as e:
        e.at = _unquoted(e.at or 0, named)
        raise
    try:
        statements = [s for s in sqlglot.parse(text, read=PostgresSource) if s is not None]
    except sqlglot.errors.SqlglotError as e:
        raise _fail(what, e) from e
    statements = [s for s in statements if not isinstance(s, exp.Semicolon)]
    if len(statements) != 1 or not isinstance(statements[0], exp.Create) or statements[0].kind != "VIEW":
        if len(statements) == 1 and _creates_view(text) and (query := _source_of(text)) != text:
            parse_query(query, what)  # what sqlglot cannot read it keeps as text; this tells where it stopped
        several = len(statements) > 1 and all(isinstance(s, exp.Create) for s in statements)
        raise InvalidSql(
            f"{what} holds {len(statements)} statements"
            if several
            else f"{what} holds no CREATE MATERIALIZED VIEW statement",
            hint="Write one CREATE MATERIALIZED VIEW name AS SELECT … a file.",
            code="syntax_error",
        )
    create = statements[0]
    target = create.this.this if isinstance(create.this, exp.Schema) else create.this
    name = target.this.this if target.this.args.get("quoted") else target.this.this.lower()
    query = create.expression
    if not isinstance(query, (exp.Query, exp.Values)):
        raise InvalidSql(f"{what} has no query after AS", code="syntax_error")
    if isinstance(create.this, exp.Schema):
        query.set("_columns", [_name(c) for c in create.this.expressions])
    for node in query.walk():
        if "start" in node.meta:
            node.meta["start"] = _unquoted(node.meta["start"], named)
    return ViewText(name, _source_of(text), query, _options(create), written)


def _unquoted(at: int, named: int) -> int:
    """An index in the author's text; `named`: where the name was that got quotes, or -1."""
    return at if named < 0 or at <= named else max(named, at - 2)


def _quote_name(text: str) -> tuple[str, int]:
    """A view may be called by any word, also one of the grammar: quote it. The text, and the place of the name."""
    try:
        tokens = sqlglot.tokenize(text, read="postgres")
    except sqlglot.errors.SqlglotError:
        return text, -1
    words = [t.text.upper() for t in tokens[:8]]
    if "VIEW" not in words:
        return text, -1
    at = words.index("VIEW") + 1
    if words[at : at + 3] == ["IF", "NOT", "EXISTS"]:
        at += 3
    if at >= len(tokens):
        return text, -1
    t = tokens[at]
    follows = tokens[at + 1].text if at + 1 < len(tokens) else ""
    if t.text.replace("_", "a").isalnum() and text[t.start] != '"' and follows != ".":
        return f'{text[: t.start]}"{t.text.lower()}"{text[t.end + 1 :]}', t.start
    return text, -1


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
            return text[t.end + 1 : end].strip()
    return text


def _options(create: exp.Create) -> dict[str, str]:
    out: dict[str, str] = {}
    properties = create.args.get("properties")
    for p in properties.expressions if properties else []:
        if isinstance(p, exp.MaterializedProperty):
            continue
        value = p.args.get("value") or (None if isinstance(p.this, exp.Identifier) else p.this)
        key = p.name if isinstance(p, exp.Property) and type(p) is exp.Property else p.key.removesuffix("property")
        if isinstance(value, exp.Boolean):
            out[str(key).lower()] = str(value.this).lower()
            continue
        sign = "-" if isinstance(value, exp.Neg) else ""
        out[str(key).lower()] = sign + value.name if isinstance(value, exp.Expr) else str(value)
    return out
