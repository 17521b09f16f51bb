"""What the compiler knows of the source: tables, columns, types, keys. From a server or from a schema file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp

from compiler.errors import InvalidSql
from compiler.ir import types
from compiler.ir.types import Type

NAMES = {
    "boolean": "bool",
    "bool": "bool",
    "smallint": "int2",
    "int2": "int2",
    "integer": "int4",
    "int": "int4",
    "int4": "int4",
    "bigint": "int8",
    "int8": "int8",
    "real": "float4",
    "float4": "float4",
    "double precision": "float8",
    "float8": "float8",
    "float": "float8",
    "text": "text",
    "name": "text",
    "character varying": "varchar",
    "varchar": "varchar",
    "character": "bpchar",
    "char": "bpchar",
    "bpchar": "bpchar",
    "date": "date",
    "time": "time",
    "time without time zone": "time",
    "timestamp": "timestamp",
    "timestamp without time zone": "timestamp",
    "timestamptz": "timestamptz",
    "timestamp with time zone": "timestamptz",
    "interval": "interval",
    "json": "json",
    "jsonb": "jsonb",
    "uuid": "uuid",
    "bytea": "bytea",
    "numeric": "numeric",
    "decimal": "numeric",
    "serial": "int4",
    "bigserial": "int8",
    "smallserial": "int2",
    "oid": "int8",
}


def parse_type(text: str, enums: Mapping[str, tuple[str, ...]] | None = None) -> Type:
    """A type as `format_type` or a CREATE TABLE prints it. Types that are not known are carried as text."""
    text = text.strip().lower() if not text.strip().startswith('"') else text.strip()
    if text.endswith("[]"):
        return types.array(parse_type(text[:-2].removesuffix("[]"), enums))
    base, _, rest = text.partition("(")
    inside, _, after = rest.partition(")")
    base = (base.strip() + after).strip()
    arguments = [int(a) for a in inside.split(",") if a.strip().lstrip("-").isdigit()]
    name = NAMES.get(base)
    if name == "numeric":
        if not arguments:
            return types.numeric()
        scale = arguments[1] if len(arguments) > 1 else 0
        if arguments[0] > types.MAX_PRECISION or scale < 0:
            return types.numeric()
        return types.numeric(arguments[0], scale)
    if name == "bpchar":
        return Type("bpchar", arguments[0] if arguments else None if base == "bpchar" else 1)
    if name == "varchar":
        return Type("varchar", arguments[0] if arguments else None)
    if name:
        return Type(name)
    if enums and base.strip('"') in enums:
        return Type("enum", labels=enums[base.strip('"')], title=_printed(base))
    return Type("interval") if base.startswith("interval ") else Type("opaque", labels=(base.strip('"'),))


def _printed(name: str) -> str:
    """A type's name as Postgres prints it: in quotes where it needs them."""
    bare = name.strip('"')
    return bare if re.fullmatch(r"[a-z_][a-z0-9_$]*(\.[a-z_][a-z0-9_$]*)?", bare) else name


def quoted(name: str) -> str:
    """A name in the source's SQL."""
    return '"' + name.replace('"', '""') + '"'


def mirror_name(table: str) -> str:
    """The name of a schema-qualified table in a warehouse; no two tables share one."""
    schema, _, name = table.partition(".")
    return name if schema == "public" and "__" not in name else f"{schema}__{name}"


@dataclass(frozen=True, slots=True)
class Column:
    """`place`, `oid` and `modifier` are attnum, atttypid and atttypmod of the server's, if known; `altered` is the
    transaction that altered it last, when the table was copied. `over`: the type that a domain is of. `called`: its
    name in the source by now, where it was renamed after it was deployed; `former`: the names that it is known to
    have had since."""

    name: str
    type: Type
    not_null: bool = False
    source_type: str = ""  # as Postgres prints it
    place: int = 0
    oid: int = 0
    modifier: int = -1
    altered: int = field(default=0, compare=False)
    called: str = ""
    former: tuple[str, ...] = ()
    over: str = field(default="", compare=False)

    @property
    def now(self) -> str:
        """Its name in the source."""
        return self.called or self.name

    @property
    def names(self) -> set[str]:
        """All that it is known to have had."""
        return {self.name, self.now, *self.former}


@dataclass(frozen=True, slots=True)
class Generated:
    """A generated column: its expression over the others, as Postgres prints it, and its type, so many of which are
    before it. `definition` is the server's number of that expression, if known."""

    name: str
    expression: str
    source_type: str
    after: int
    definition: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """A source table. `identity` is Postgres' replica identity: default, full, index or nothing. `generated` columns
    are not sent, and so not in `columns`: `expressions` says what they are. `form` is inheritance, partitions or
    unlogged where the table is of that form; `oid` is the server's, if known. `deferrable`: two rows may have one key
    within a transaction.
    `files`: by oid, the files of the table and its partitions when it was copied; `links`: the transactions that made
    these its partitions. `called`: its schema and name in the source by now, where it was renamed after it was
    deployed; `former`: those that it is known to have had since. `gone`: the places of columns that were dropped
    since, and an LSN from which the stream has them no more."""

    schema: str
    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    identity: str = "default"
    identity_key: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()
    form: str = ""
    oid: int = 0
    deferrable: bool = False
    files: tuple[tuple[int, int], ...] = field(default=(), compare=False)
    links: tuple[tuple[int, int], ...] = field(default=(), compare=False)
    called: tuple[str, ...] = ()
    former: tuple[tuple[str, ...], ...] = ()
    gone: tuple[tuple[int, int], ...] = field(default=(), compare=False)
    expressions: tuple[Generated, ...] = field(default=(), compare=False)

    @property
    def mirror(self) -> str:
        """The name of its mirror and delta table in a warehouse."""
        return mirror_name(f"{self.schema}.{self.name}")

    @property
    def now(self) -> tuple[str, str]:
        """Its schema and name in the source."""
        return (self.called[0], self.called[1]) if self.called else (self.schema, self.name)

    @property
    def elsewhere(self) -> bool:
        """Whether the source calls it, or one of its columns, otherwise by now."""
        return bool(self.called) or any(c.called for c in self.columns)

    @property
    def names(self) -> set[tuple[str, ...]]:
        """All schemas and names that it is known to have had."""
        return {(self.schema, self.name), self.now, *self.former}

    @property
    def quoted(self) -> str:
        """Its name in the source's SQL, quoted."""
        return ".".join(map(quoted, self.now))

    def column(self, name: str) -> Column | None:
        return next((c for c in self.columns if c.name == name), None)


@dataclass(frozen=True, slots=True)
class Catalog:
    """Tables by (schema, name); `path` is the search path for names without a schema."""

    tables: dict[tuple[str, str], Table]
    path: tuple[str, ...] = ("public",)

    def find(self, schema: str | None, name: str) -> Table | None:
        for s in (schema,) if schema else self.path:
            if (t := self.tables.get((s, name))) is not None:
                return t
        return None


def identifier(e: exp.Expr | str | None) -> str:
    """A name as Postgres takes it: in lower case, unless it is quoted."""
    if isinstance(e, exp.Identifier):
        return str(e.this if e.quoted else e.this.lower())
    return e.name if isinstance(e, exp.Expr) else str(e or "")


def read_schema(text: str) -> Catalog:
    """A catalog from CREATE TABLE, CREATE TYPE … AS ENUM and ALTER TABLE statements (pg_dump's output will do)."""
    enums: dict[str, tuple[str, ...]] = {}
    for m in re.finditer(r"CREATE\s+TYPE\s+(?:\w+\.)?(\"?[\w ]+\"?)\s+AS\s+ENUM\s*\(([^)]*)\)", text, re.I):
        enums[m[1].strip('" ').lower()] = tuple(x.replace("''", "'") for x in re.findall(r"'((?:[^']|'')*)'", m[2]))
    tables: dict[tuple[str, str], Table] = {}
    for statement in _statements(text):
        head = statement.lstrip().upper()
        if head.startswith("ALTER TABLE"):
            _alter(statement, tables)
        if not head.startswith(("CREATE TABLE", "CREATE UNLOGGED TABLE")):
            continue
        try:
            tree = sqlglot.parse_one(statement, read="postgres")
        except sqlglot.errors.ParseError as e:
            raise InvalidSql("the schema file does not parse", detail=str(e).split("\n")[0]) from e
        if isinstance(tree, exp.Create) and isinstance(tree.this, exp.Schema):
            t = _table(tree.this, enums)
            tables[(t.schema, t.name)] = t
    return Catalog(tables)


def _statements(text: str) -> list[str]:
    out, depth, start = [], None, 0
    for m in re.finditer(r"--[^\n]*|'(?:[^']|'')*'|\"[^\"]*\"|\$(\w*)\$.*?\$\1\$|;", text, re.S):
        if m[0] == ";" and depth is None:
            out.append(text[start : m.start()])
            start = m.end()
    out.append(text[start:])
    return [re.sub(r"^(\s*--[^\n]*\n)+", "", s.strip() + "\n").strip() for s in out if s.strip()]


def _alter(statement: str, tables: dict[tuple[str, str], Table]) -> None:
    from dataclasses import replace

    m = re.match(r"ALTER\s+TABLE\s+(?:ONLY\s+)?(?:(\w+)\.)?\"?(\w+)\"?\s+(.*)", statement, re.I | re.S)
    if not m or (key := (m[1] or "public", m[2])) not in tables:
        return
    if r := re.match(r"REPLICA\s+IDENTITY\s+(\w+)", m[3], re.I):
        tables[key] = replace(tables[key], identity=r[1].lower())
    elif r := re.search(r"PRIMARY\s+KEY\s*\(([^)]*)\)", m[3], re.I):
        names = tuple(n.strip().strip('"') for n in r[1].split(","))
        tables[key] = replace(tables[key], key=names, identity_key=names)


def _table(schema: exp.Schema, enums: dict[str, tuple[str, ...]]) -> Table:
    columns: list[Column] = []
    key: tuple[str, ...] = ()
    generated: list[Generated] = []
    for d in schema.expressions:
        if isinstance(d, exp.ColumnDef):
            kinds = [c.args["kind"] for c in d.constraints]
            computed = next((k for k in kinds if isinstance(k, exp.ComputedColumnConstraint)), None)
            if computed is not None:
                of, kind = computed.this.sql("postgres"), d.args["kind"].sql("postgres")
                generated.append(Generated(identifier(d.this), of, kind, len(columns)))
                continue
            primary = any(isinstance(k, exp.PrimaryKeyColumnConstraint) for k in kinds)
            strict = any(isinstance(k, exp.NotNullColumnConstraint) and not k.args.get("allow_null") for k in kinds)
            text = d.args["kind"].sql("postgres")
            columns.append(Column(identifier(d.this), parse_type(text, enums), strict or primary, text.lower()))
            key = (identifier(d.this),) if primary else key
        else:
            for p in d.find_all(exp.PrimaryKey):
                key = tuple(identifier(e.this if isinstance(e, exp.Ordered) else e) for e in p.expressions)
    table = schema.this
    identity = "default" if key else "nothing"
    return Table(
        identifier(table.args.get("db")) or "public",
        identifier(table.this),
        tuple(columns),
        key,
        identity,
        key,
        tuple(g.name for g in generated),
        expressions=tuple(generated),
    )
