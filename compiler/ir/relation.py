"""Relations: Z-sets (rows with signed integer weights) built from tables by the kernel's operators.

Every node knows its columns, refuses to be built from columns its inputs do not have, and is compared by structure.
Meaning is given by `compiler.ir.evaluate`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property

from compiler.errors import CompilerBug
from compiler.ir.scalar import Col, Scalar, columns
from compiler.ir.types import Type

Named = tuple[str, Scalar]


class Relation:
    """A Z-set over named, typed columns."""

    @cached_property
    def _hash(self) -> int:
        return hash((type(self).__name__, *(getattr(self, f.name) for f in fields(self))))  # type: ignore[arg-type]

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or hash(self) != hash(other):
            return False
        return all(getattr(self, f.name) == getattr(other, f.name) for f in fields(self))  # type: ignore[arg-type]

    @property
    def schema(self) -> tuple[Col, ...]:
        raise NotImplementedError

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return ()

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        assert not inputs
        return self

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.schema)

    def col(self, name: str) -> Col:
        for c in self.schema:
            if c.name == name:
                return c
        raise CompilerBug(f"no column {name!r} among {list(self.names)}")


def require(what: str, used: set[str], *inputs: Relation) -> None:
    have = {n for i in inputs for n in i.names}
    if missing := used - have:
        raise CompilerBug(f"{what} reads {sorted(missing)}, but its input has {sorted(have)}")


def require_unique(what: str, names: tuple[str, ...]) -> None:
    if len(set(names)) != len(names):
        raise CompilerBug(f"{what} repeats a column: {list(names)}")


def node(cls: type) -> type:
    return dataclass(frozen=True, eq=False)(cls)


@dataclass(frozen=True, eq=False)
class Scan(Relation):
    """A mirrored table at a time: before, after or delta. `key` is its primary key, () when it has none."""

    table: str
    cols: tuple[Col, ...]
    key: tuple[str, ...] = ()
    at: str = "after"

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.cols


@dataclass(frozen=True, eq=False)
class State(Relation):
    """A kept relation at a time. `key` identifies its rows (null-safe); weights are 1."""

    name: str
    cols: tuple[Col, ...]
    key: tuple[str, ...]
    at: str = "after"

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.cols


@dataclass(frozen=True, eq=False)
class Temp(Relation):
    """The stored result of an earlier statement of the same batch; `signed` when it has a weight column."""

    name: str
    cols: tuple[Col, ...]
    signed: bool

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.cols


@dataclass(frozen=True, eq=False)
class Values(Relation):
    """Constant rows of weight 1; without rows it is the empty relation."""

    cols: tuple[Col, ...]
    rows: tuple[tuple[Scalar, ...], ...]

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.cols


@dataclass(frozen=True, eq=False)
class Project(Relation):
    """π: compute columns; equal rows keep their weights apart."""

    input: Relation
    exprs: tuple[Named, ...]

    def __post_init__(self) -> None:
        require("project", columns(*(e for _, e in self.exprs)), self.input)
        require_unique("project", tuple(n for n, _ in self.exprs))

    @cached_property
    def schema(self) -> tuple[Col, ...]:
        return tuple(Col(n, e.type) for n, e in self.exprs)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, input=inputs[0])


@dataclass(frozen=True, eq=False)
class Filter(Relation):
    """σ: keep rows for which `predicate` is true, neither false nor unknown."""

    input: Relation
    predicate: Scalar

    def __post_init__(self) -> None:
        require("filter", columns(self.predicate), self.input)

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.input.schema

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, input=inputs[0])


@dataclass(frozen=True, eq=False)
class Binary(Relation):
    left: Relation
    right: Relation
    on: Scalar

    def __post_init__(self) -> None:
        require_unique(type(self).__name__.lower(), self.left.names + self.right.names)
        require(type(self).__name__.lower(), columns(self.on), self.left, self.right)

    @cached_property
    def schema(self) -> tuple[Col, ...]:
        return self.left.schema + self.right.schema

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.left, self.right)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, left=inputs[0], right=inputs[1])


@dataclass(frozen=True, eq=False)
class Join(Binary):
    """⋈: pairs for which `on` is true; weights multiply."""


@dataclass(frozen=True, eq=False)
class LeftJoin(Binary):
    """⟕: pairs, and every left row without a partner padded with NULLs. Linear in the left side."""


@dataclass(frozen=True, eq=False)
class Semi(Binary):
    """⋉ (or ▷ when `anti`): left rows that have (have no) partner on the right. Linear in the left side."""

    anti: bool = False

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.left.schema


@dataclass(frozen=True, eq=False)
class Apply(Binary):
    """LATERAL: for each left row, the right side with its `Outer` columns bound to it; none after normalization."""

    kind: str = "inner"


@dataclass(frozen=True, eq=False)
class Union(Relation):
    """+: adds weights. Columns go by position; names and types are the first input's."""

    parts: tuple[Relation, ...]

    def __post_init__(self) -> None:
        if len({len(p.names) for p in self.parts}) != 1:
            raise CompilerBug("union of relations of different width")

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.parts[0].schema

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return self.parts

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, parts=inputs)


@dataclass(frozen=True, eq=False)
class Weigh(Relation):
    """Multiply each weight by an integer computed from the row; −1 negates."""

    input: Relation
    by: Scalar

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.input.schema

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, input=inputs[0])


@dataclass(frozen=True, slots=True)
class Order:
    expr: Scalar
    desc: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class Agg:
    """An aggregate call. `filter` keeps rows for which it is true; `order` and `distinct` as in SQL."""

    fn: str
    args: tuple[Scalar, ...]
    type: Type
    filter: Scalar | None = None
    distinct: bool = False
    order: tuple[Order, ...] = ()

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        return (*self.args, *([self.filter] if self.filter else []), *(o.expr for o in self.order))


@dataclass(frozen=True, eq=False)
class Aggregate(Relation):
    """γ: one row a group, NULL keys being equal; without keys, one row always."""

    input: Relation
    keys: tuple[Named, ...]
    aggs: tuple[tuple[str, Agg], ...]

    def __post_init__(self) -> None:
        used = columns(*(e for _, e in self.keys), *(s for _, a in self.aggs for s in a.scalars))
        require("aggregate", used, self.input)
        require_unique("aggregate", self.names)

    @cached_property
    def schema(self) -> tuple[Col, ...]:
        return tuple(Col(n, e.type) for n, e in self.keys) + tuple(Col(n, a.type) for n, a in self.aggs)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, input=inputs[0])


@dataclass(frozen=True, slots=True)
class WindowCall:
    """A window function; `frame` is (unit, start, end, exclude) with bounds as ("preceding", scalar) etc., or None."""

    fn: str
    args: tuple[Scalar, ...]
    type: Type
    order: tuple[Order, ...] = ()
    frame: tuple[str, tuple[str, Scalar | None], tuple[str, Scalar | None], str] | None = None
    filter: Scalar | None = None

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        return (*self.args, *([self.filter] if self.filter else []), *(o.expr for o in self.order))


@dataclass(frozen=True, eq=False)
class Window(Relation):
    """Input columns and window functions over one PARTITION BY."""

    input: Relation
    partition: tuple[Scalar, ...]
    calls: tuple[tuple[str, WindowCall], ...]

    def __post_init__(self) -> None:
        require("window", columns(*self.partition, *(s for _, c in self.calls for s in c.scalars)), self.input)
        require_unique("window", self.names)

    @cached_property
    def schema(self) -> tuple[Col, ...]:
        return self.input.schema + tuple(Col(n, c.type) for n, c in self.calls)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, input=inputs[0])


@dataclass(frozen=True, eq=False)
class TopK(Relation):
    """Per partition, rows `skip` to `skip + limit` of an order; limit None is no limit. Ties go by all columns."""

    input: Relation
    partition: tuple[Scalar, ...]
    order: tuple[Order, ...]
    limit: int | None
    skip: int = 0
    with_ties: bool = False

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.input.schema

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, input=inputs[0])


@dataclass(frozen=True, eq=False)
class Unnest(Relation):
    """Input columns and those of a set-returning function of them; linear. `outer` keeps rows it gives none for."""

    input: Relation
    fn: str
    args: tuple[Scalar, ...]
    out: tuple[Col, ...]
    ordinality: str | None = None
    outer: bool = False

    @cached_property
    def schema(self) -> tuple[Col, ...]:
        from compiler.ir.types import INT8

        return self.input.schema + self.out + ((Col(self.ordinality, INT8),) if self.ordinality else ())

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, input=inputs[0])


@dataclass(frozen=True, eq=False)
class Keys(Relation):
    """δ(π |R|): the distinct values of expressions over all rows of any non-zero weight, each with weight 1."""

    input: Relation
    exprs: tuple[Named, ...]

    @cached_property
    def schema(self) -> tuple[Col, ...]:
        return tuple(Col(n, e.type) for n, e in self.exprs)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, input=inputs[0])


@dataclass(frozen=True, eq=False)
class Net(Relation):
    """Equal rows added up and those of weight 0 dropped; the same Z-set, in its shortest form."""

    input: Relation

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.input.schema

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, input=inputs[0])


@dataclass(frozen=True, eq=False)
class Fixpoint(Relation):
    """WITH RECURSIVE: `base`, then `step` over the rows last found, read as `Recur`, until it finds none."""

    name: str
    base: Relation
    step: Relation
    distinct: bool

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.base.schema

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.base, self.step)

    def rebuild(self, inputs: tuple[Relation, ...]) -> Relation:
        return replace(self, base=inputs[0], step=inputs[1])


@dataclass(frozen=True, eq=False)
class Recur(Relation):
    """Inside a `Fixpoint`'s step: the rows found by the round before."""

    name: str
    cols: tuple[Col, ...]

    @property
    def schema(self) -> tuple[Col, ...]:
        return self.cols


def empty(like: Relation) -> Values:
    return Values(like.schema, ())


def is_empty(r: Relation) -> bool:
    return isinstance(r, Values) and not r.rows


def transform(r: Relation, f) -> Relation:  # type: ignore[no-untyped-def]
    """Rebuild bottom-up, each node passed through `f`; shared nodes are visited once."""
    memo: dict[int, Relation] = {}

    def go(n: Relation) -> Relation:
        if id(n) not in memo:
            kids = tuple(go(i) for i in n.inputs)
            same = all(a is b for a, b in zip(kids, n.inputs, strict=True))
            memo[id(n)] = f(n if same else n.rebuild(kids))
        return memo[id(n)]

    return go(r)


def walk(r: Relation):  # type: ignore[no-untyped-def]
    """Every node once, inputs first."""
    seen: set[int] = set()

    def go(n: Relation):  # type: ignore[no-untyped-def]
        if id(n) in seen:
            return
        seen.add(id(n))
        for i in n.inputs:
            yield from go(i)
        yield n

    yield from go(r)


def rename(r: Relation, mapping: dict[str, str]) -> Relation:
    """π that renames columns."""
    return Project(r, tuple((mapping.get(c.name, c.name), c) for c in r.schema))


def pick(r: Relation, names: tuple[str, ...]) -> Relation:
    """π to some of the columns."""
    return r if names == r.names else Project(r, tuple((n, r.col(n)) for n in names))
