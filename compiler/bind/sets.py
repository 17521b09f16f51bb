"""Set-returning functions in FROM or SELECT: the function each is, and how its columns come from what it gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from compiler.bind import multiranges
from compiler.bind.coerce import coerce, unsupported
from compiler.bind.composites import fields, is_composite
from compiler.bind.functions import bind_function, check_call
from compiler.bind.functions.regexes import every_match
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.ir import types
from compiler.ir.relation import Apply, Filter, LeftJoin, Project, Relation, Unnest, Values
from compiler.ir.scalar import TRUE, Call, Col, Lit, Outer, Scalar, case, cast, columns, conj, transform
from compiler.ir.types import BOOL, INT4, INT8, INTERVAL, JSONB, TEXT, TIMESTAMP, TIMESTAMPTZ, Type

Out = list[tuple[str, Type]]
MAX_SERIES_SCALE = 6  # its numbers are counted in whole units of the last digit
ONE_ROW = Values((), ((),))
NAMES = frozenset(
    (
        "unnest",
        "generate_series",
        "jsonb_array_elements",
        "jsonb_array_elements_text",
        "json_array_elements",
        "json_array_elements_text",
        "regexp_split_to_table",
        "string_to_table",
        "generate_subscripts",
        "jsonb_object_keys",
        "jsonb_each",
        "jsonb_each_text",
        "jsonb_to_record",
        "jsonb_to_recordset",
        "json_to_recordset",
        "json_object_keys",
        "json_each",
        "json_each_text",
        "json_to_record",
        "regexp_matches",
    )
)
UNNAMED = frozenset(
    (
        "unnest",
        "generate_series",
        "generate_subscripts",
        "string_to_table",
        "regexp_split_to_table",
        "jsonb_object_keys",
        "json_object_keys",
        "regexp_matches",
    )
)  # their one column takes the alias; that of others has a name of its own


@dataclass(frozen=True)
class SetFunction:
    """A canonical function and its arguments; `raw` are the columns it gives itself, `columns` what SQL sees, made
    of them.

    Without `make` the two are the same.
    """

    fn: str
    args: tuple[Scalar, ...]
    columns: Out
    raw: Out
    make: Callable[[Sequence[Scalar]], list[Scalar]] | None = None
    alone: bool = False  # it takes no steps with another one in SELECT


def _plain(fn: str, args: tuple[Scalar, ...], columns: Out) -> SetFunction:
    return SetFunction(fn, args, columns, columns)


def set_function(name: str, args: list[Scalar], declared: Out | None = None, in_from: bool = False) -> SetFunction:
    """`declared` are the columns of a column definition list; in FROM composite values have a column for each field.
    Raises InvalidSql and UnsupportedSql."""
    if name != "unnest":  # of several arrays it is a form of FROM
        check_call(name, args)
    if name == "generate_series":
        return _series(args)
    if name == "unnest":
        composite = in_from and any(is_composite(a.type.element or a.type) for a in args)
        return _unnest_fields(args) if composite else _unnest(args)
    if name in ("jsonb_array_elements", "json_array_elements"):
        x = coerce(args[0], JSONB)
        return _plain("json_elements", (x,), [("value", Type(x.type.name))])
    if name in ("jsonb_array_elements_text", "json_array_elements_text"):
        return _plain("json_elements_text", (coerce(args[0], JSONB),), [("value", TEXT)])
    if name in ("string_to_table", "regexp_split_to_table"):
        parts = bind_function("string_to_array" if name == "string_to_table" else "regexp_split_to_array", args)
        return _plain("unnest", (parts,), [(name, TEXT)])
    if name == "generate_subscripts":
        if len(args) > 2:
            raise unsupported("generate_subscripts in reverse")
        return _plain("series", (Lit(1, INT4), bind_function("array_length", args), Lit(1, INT4)), [(name, INT4)])
    if name in ("jsonb_object_keys", "json_object_keys"):
        return _plain("json_keys", (coerce(args[0], JSONB),), [(name, TEXT)])
    if name in ("jsonb_each", "jsonb_each_text", "json_each", "json_each_text"):
        t = TEXT if name.endswith("text") else Type(name.partition("_")[0])
        return _plain(
            "json_each_text" if t == TEXT else "json_each", (coerce(args[0], JSONB),), [("key", TEXT), ("value", t)]
        )
    if name in ("jsonb_to_record", "jsonb_to_recordset", "json_to_recordset", "json_to_record") and declared:
        return _records(args[0], declared, one=name.endswith("record"))
    if name == "regexp_matches":
        return _matches(args)
    raise UnsupportedSql(f"function {name}() is not supported in FROM", code="unsupported_function")


def _array(a: Scalar) -> Type:
    if a.type.name != "array":
        raise InvalidSql(f"function unnest({a.type}) does not exist", code="undefined_function")
    return a.type.element or TEXT


def _unnest(args: list[Scalar]) -> SetFunction:
    """Several arrays side by side: as many rows as the longest has elements, NULL where one has none left."""
    args = [multiranges.ranges(a) if multiranges.is_multirange(a.type) else a for a in args]
    out = [("unnest", _array(a)) for a in args]
    if len(args) == 1:
        return _plain("unnest", (args[0],), out)
    sizes = tuple(Call("cardinality", (a,), INT4) for a in args)

    def make(raw: Sequence[Scalar]) -> list[Scalar]:
        return [Call("array_get", (a, raw[0]), t) for a, (_, t) in zip(args, out, strict=True)]

    return SetFunction("series", (Lit(1, INT4), Call("greatest", sizes, INT4), Lit(1, INT4)), out, [("i", INT4)], make)


def _unnest_fields(args: list[Scalar]) -> SetFunction:
    """Of an array of composite values: what each has in its fields."""
    element = _array(args[0])
    if len(args) > 1:
        raise unsupported("unnest of several arrays, of which one has composite values,")
    names = [(f.name, f.type) for f in element.fields]
    return SetFunction(
        "unnest", (args[0],), names, [("unnest", element)], lambda raw: [value for _, value in fields(raw[0])]
    )


def _matches(args: list[Scalar]) -> SetFunction:
    """The groups of each match, with the flag g; otherwise of the first, and no row where there is none."""
    one, out = Lit(1, INT4), [("regexp_matches", types.array(TEXT))]
    if (groups := _every(args)) is not None:
        return SetFunction(
            "series",
            (one, Call("cardinality", (groups[0],), INT4), one),
            out,
            [("i", INT4)],
            lambda raw: [Call("array", tuple(Call("array_get", (g, raw[0]), TEXT) for g in groups), types.array(TEXT))],
        )
    first = bind_function("regexp_match", args)
    rows = case([(Call("is_null", (first,), BOOL), Lit(0, INT4))], one, INT4)
    return SetFunction("series", (one, rows, one), out, [("i", INT4)], lambda raw: [first])


def _every(args: list[Scalar]) -> list[Scalar] | None:
    """Of each group what it matched each time, with the flag g; None without it."""
    given = str(args[2].value) if len(args) > 2 and isinstance(args[2], Lit) else ""
    return every_match([*args[:2], Lit(given.replace("g", ""), TEXT)]) if "g" in given else None


def matches_unnested(args: list[Scalar]) -> SetFunction:
    """unnest(regexp_matches(…)): what the group matched each time, or the whole where there is none. Raises
    UnsupportedSql for several groups."""
    check_call("regexp_matches", args)
    groups = _every(args)
    if groups is not None and len(groups) > 1:
        raise unsupported("unnest of regexp_matches with several groups")
    found = bind_function("regexp_match", args) if groups is None else groups[0]
    return replace(_plain("unnest", (found,), [("unnest", TEXT)]), alone=True)


def _records(x: Scalar, declared: Out, one: bool) -> SetFunction:
    """The members of objects, each as the type it is declared with."""
    x = coerce(x, JSONB)

    def member(value: Scalar, name: str, t: Type) -> Scalar:
        got: Scalar = Call(
            "json_get" if t.name in ("json", "jsonb") else "json_text",
            (value, Lit(name, TEXT)),
            JSONB if t == JSONB else TEXT,
        )
        return cast(got, t)

    if one:
        return SetFunction(
            "series",
            (Lit(1, INT4), Lit(1, INT4), Lit(1, INT4)),
            declared,
            [("i", INT4)],
            lambda raw: [member(x, n, t) for n, t in declared],
        )
    return SetFunction(
        "json_elements", (x,), declared, [("value", x.type)], lambda raw: [member(raw[0], n, t) for n, t in declared]
    )


def _series(args: list[Scalar]) -> SetFunction:
    start = next((a for a in args[:2] if a.type.name != "unknown"), args[0])
    if any(types.is_numeric(a.type) for a in args) and all(types.is_exact(a.type) for a in args):
        return _numeric_series(args)
    if any(types.is_float(a.type) for a in args):
        raise InvalidSql(
            f"function generate_series({', '.join(str(a.type) for a in args)}) does not exist",
            code="undefined_function",
        )
    if types.is_integer(start.type) or start.type.name == "unknown":
        t = INT8 if any(a.type.name == "int8" for a in args) else INT4
        step: Scalar = Lit(1, t) if len(args) < 3 else cast(args[2], t)
        return _plain("series", (cast(args[0], t), cast(args[1], t), step), [("generate_series", t)])
    if start.type.name in types.TEMPORALS:
        if len(args) < 3:
            raise InvalidSql("generate_series of timestamps needs a step", code="undefined_function")
        t = TIMESTAMPTZ if start.type.name in ("timestamptz", "date") else TIMESTAMP
        if start.type.name == "timestamp" or (start.type.name == "date" and args[1].type.name == "timestamp"):
            t = TIMESTAMP
        return _plain(
            "series_time", (cast(args[0], t), cast(args[1], t), coerce(args[2], INTERVAL)), [("generate_series", t)]
        )
    raise UnsupportedSql(f"generate_series over {start.type} is not supported", code="unsupported_function")


def _numeric_series(args: list[Scalar]) -> SetFunction:
    """A series of whole numbers, each so many units of the last digit that the arguments have."""
    scales = [types.digits(a.type)[1] for a in args]
    scale, shown = max(scales), max(scales[:1] + scales[2:])
    if scale > MAX_SERIES_SCALE:
        raise UnsupportedSql(
            f"generate_series over numbers of {scale} digits after the point is not supported",
            code="unsupported_function",
            hint=f"Round them to at most {MAX_SERIES_SCALE} digits.",
        )
    unit = types.numeric(types.MAX_PRECISION, scale)
    t = types.numeric(19 + shown, shown)
    t = types.varying(t) if scales[0] < shown else t  # the first number is written as the start is

    def whole(a: Scalar) -> Scalar:
        return cast(Call("*", (cast(a, unit), Lit(10**scale, INT8)), unit), INT8)

    def make(raw: Sequence[Scalar]) -> list[Scalar]:
        return [
            cast(
                Call(
                    "*",
                    (
                        cast(raw[0], types.numeric(19, 0)),
                        Lit(f"{Decimal(1).scaleb(-scale):f}", types.numeric(scale + 1, scale)),
                    ),
                    types.numeric(19 + scale, scale),
                ),
                t,
            )
        ]

    step = args[2] if len(args) > 2 else Lit(1, INT8)
    return SetFunction(
        "series", (whole(args[0]), whole(args[1]), whole(step)), [("generate_series", t)], [("i", INT8)], make
    )


def lockstep(functions: list[SetFunction]) -> SetFunction:
    """Several functions of one SELECT list: row by row together, NULL where one has no more; raises UnsupportedSql."""
    sizes = tuple(map(_size, functions))

    def make(raw: Sequence[Scalar]) -> list[Scalar]:
        return [_nth(f, n, raw[0]) for f, n in zip(functions, sizes, strict=True)]

    return SetFunction(
        "series",
        (Lit(1, INT4), Call("greatest", sizes, INT4), Lit(1, INT4)),
        [f.columns[0] for f in functions],
        [("i", INT4)],
        make,
    )


def _size(f: SetFunction) -> Scalar:
    if f.fn == "unnest":
        return Call("cardinality", f.args, INT4)
    if f.fn == "series":
        start, stop, step = (cast(a, INT8) for a in f.args)
        steps = Call("+", (Call("/", (Call("-", (stop, start), INT8), step), INT8), Lit(1, INT8)), INT8)
        away = [
            conj([Call(a, (step, Lit(0, INT8)), BOOL), Call(b, (stop, start), BOOL)])
            for a, b in (("<", ">"), (">", "<"))
        ]
        return case([(x, Lit(0, INT4)) for x in away], cast(steps, INT4), INT4)
    raise UnsupportedSql(
        "these set-returning functions are not supported together in one SELECT list",
        code="unsupported_syntax",
        hint="Call them in FROM, with LATERAL.",
    )


def _nth(f: SetFunction, size: Scalar, i: Scalar) -> Scalar:
    t = f.columns[0][1]
    if f.fn == "unnest":
        return Call("array_get", (f.args[0], i), t)
    (start, _, step), counted = f.args, f.raw[0][1]
    value: Scalar = Call("+", (start, Call("*", (Call("-", (i, Lit(1, INT4)), INT4), step), counted)), counted)
    return case([(Call("<=", (i, size), BOOL), f.make([value])[0] if f.make else value)], Lit(None, t), t)


def sets_joined(left: Relation, rel: Relation, on: Scalar, side: str) -> Relation:
    """A set-returning function that was put over the rows to its left."""
    if side != "LEFT":
        return rel if on == TRUE else Filter(rel, on)
    sets = (
        rel.input if isinstance(rel, Project) else rel
    )  # of some functions the columns are computed from what they give
    assert isinstance(sets, Unnest)
    if on == TRUE:
        return replace(sets, outer=True) if sets is rel else rel.rebuild((replace(sets, outer=True),))
    names = set(left.names)

    def outside(e: Scalar) -> Scalar:
        return transform(e, lambda n: Outer(n.name, n.type) if isinstance(n, Col) and n.name in names else None)

    alone: Relation = replace(sets, input=ONE_ROW, args=tuple(map(outside, sets.args)))
    if isinstance(rel, Project):
        alone = Project(
            alone, tuple((n, outside(e)) for n, e in rel.exprs if not (isinstance(e, Col) and e.name in names))
        )
    if not any(columns(a) for a in sets.args):  # it reads nothing of the left side: an ordinary outer join
        return LeftJoin(left, alone, on)
    return Apply(left, alone, on, outer=True)
