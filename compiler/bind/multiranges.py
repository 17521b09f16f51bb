"""Multiranges: several ranges in one value, in their order, none of which meets another.

Such a value is carried as the text that Postgres prints. What is asked of it is asked of the texts of its ranges, and
what a view makes is made of these: no bound is written anew, so that numerics keep their digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from compiler.bind import lists, range_order
from compiler.bind.coerce import joined
from compiler.bind.range_order import begins_before, ends_before
from compiler.bind.range_parts import (
    ELEMENTS,
    Range,
    absent,
    both,
    either,
    is_range,
    opposite,
    parts,
    printed,
    strict,
    told,
    whole,
)
from compiler.bind.range_relations import before, begins_with, contains, ends_with, holds, meets, overlaps, refuse
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.formats.input import multiranges as input
from compiler.ir import types
from compiler.ir.outers import map_scalars
from compiler.ir.parts import scalars
from compiler.ir.relation import Relation
from compiler.ir.scalar import FALSE, Call, Lit, Scalar, case, cast, is_null, negate, null, transform, walk
from compiler.ir.types import BOOL, INT4, TEXT, Type
from compiler.opaque import every

CONSTRUCTORS = {name.replace("range", "multirange"): name for name in ELEMENTS} | {"multirange": ""}
MADE = "multirange"  # the call that holds the list of texts of one that the view makes
EVERYTHING = "(,)"
LETS = 2  # the first depth of what is computed once; lists are within one another two deep


def is_multirange(t: Type) -> bool:
    return t.name == "opaque" and t.labels[0] in CONSTRUCTORS


def range_type(t: Type) -> Type:
    """Of its ranges."""
    return Type("opaque", labels=(CONSTRUCTORS[t.labels[0]],))


def type_of(r: Type) -> Type:
    """That of several ranges of a type."""
    return Type("opaque", labels=(r.labels[0].replace("range", "multirange"),))


def texts(m: Scalar) -> Scalar:
    """The list of the texts of its ranges; NULL where it is."""
    if isinstance(m, Call) and m.fn == MADE:
        return m.args[0]
    if isinstance(m, Lit):
        return _written(m)
    return Call("multirange_ranges", (cast(m, TEXT),), lists.TEXTS)


def ranges(m: Scalar) -> Scalar:
    """The array of its ranges, for unnest."""
    return replace(texts(m), type=types.array(range_type(m.type)))  # type: ignore[type-var]


def made(xs: Scalar, t: Type) -> Scalar:
    return Call(MADE, (xs,), t)


def _written(m: Lit) -> Scalar:
    """A literal's; raises InvalidSql where Postgres does."""
    of = range_type(m.type)
    if m.value is None:
        return null(lists.TEXTS)
    try:
        found = input.read(str(m.value))
        return _united(lists.listed([_text(whole(parts(Lit(x, of, m.at)))) for x in found]), of)
    except InvalidSql as error:
        error.at = error.at or m.at
        raise


def _text(r: Scalar) -> Scalar:
    return cast(r, TEXT)


def shown(r: Relation) -> Relation:
    """With literals in the form that Postgres prints."""
    return map_scalars(r, lambda e: transform(e, _made)) if any(map(_is_literal, _scalars(r))) else r


def _scalars(r: Relation) -> Sequence[Scalar]:
    return [s for n in every(r) for e in scalars(n) for s in walk(e)]


def _is_literal(e: Scalar) -> bool:
    return isinstance(e, Lit) and is_multirange(e.type) and e.value is not None


def _made(e: Scalar) -> Scalar | None:
    return made(texts(e), e.type) if _is_literal(e) else None


def _united(xs: Scalar, of: Type) -> Scalar:
    """A list of ranges, in any order, as that of a multirange: in order, those that meet in one, without empty ones and
    those that are missing. Of bounds that are equal the later one is taken, as by Postgres."""
    there = told(negate(Call("=", (lists.element(), Lit("empty", TEXT)), BOOL)))
    keys = range_order.of(printed(lists.element(), of))
    r, before_it = printed(lists.element(), of), lists.last(lists.carried())
    prior = printed(before_it, of)
    apart = both(before(prior, r), opposite(meets(prior, r)))
    low = case([(begins_before(prior, r), _low(before_it))], _low(lists.element()), TEXT)
    high = case([(ends_before(r, prior), _high(before_it))], _high(lists.element()), TEXT)
    longer = joined([low, Lit(",", TEXT), high])
    step = case(
        [
            (lists.is_empty(lists.carried()), lists.appended(lists.carried(), lists.element())),
            (apart, lists.appended(lists.carried(), lists.element())),
        ],
        lists.appended(lists.but_last(lists.carried()), longer),
        lists.TEXTS,
    )
    return lists.fold(lists.ordered(lists.kept(xs, there), keys), lists.listed([]), step)


def _low(text: Scalar) -> Scalar:
    """[a of [a,b)."""
    return Call("split_part", (text, Lit(",", TEXT), Lit(1, INT4)), TEXT)


def _high(text: Scalar) -> Scalar:
    """b) of [a,b)."""
    return Call("split_part", (text, Lit(",", TEXT), Lit(2, INT4)), TEXT)


def aggregated(xs: Scalar, of: Type) -> Scalar:
    """range_agg, of the list of the texts of all rows' ranges or multiranges; NULL where all are."""
    there = lists.kept(xs, negate(is_null(lists.element())))
    none = lists.is_empty(there)
    t = type_of(of) if is_range(of) else of
    items = there
    if not is_range(of):
        items = lists.flat(there, Call("multirange_ranges", (lists.element(),), lists.TEXTS))
    return made(case([(none, null(lists.TEXTS))], _united(items, range_type(t)), lists.TEXTS), t)


def in_common(xs: Scalar, of: Type) -> Scalar:
    """range_intersect_agg, of the list of the texts of all rows' ranges; NULL where all are."""
    there = lists.kept(xs, negate(is_null(lists.element())))
    carried = lists.last(lists.carried())
    met = _met(carried, printed(carried, of), lists.element(), printed(lists.element(), of))
    step = case([(lists.is_empty(lists.carried()), lists.listed([lists.element()]))], lists.listed([met]), lists.TEXTS)
    return Call("cast", (lists.last(lists.fold(there, lists.listed([]), step)),), of)


def _met(x: Scalar, a: Range, y: Scalar, b: Range) -> Scalar:
    """The text of what two ranges have in common; of bounds that are equal that of the first."""
    low = case([(begins_before(a, b), _low(y))], _low(x), TEXT)
    high = case([(ends_with(a, b), _high(x))], _high(y), TEXT)
    return case([(overlaps(a, b), joined([low, Lit(",", TEXT), high]))], Lit("empty", TEXT), TEXT)


def _of_both(xs: Scalar, ys: Scalar, of: Type) -> Scalar:
    """What two multiranges have in common; no two such pieces meet."""
    x, y = lists.element(0), lists.element(1)
    pieces = lists.each(ys, _met(x, printed(x, of), y, printed(y, of)), 1)
    there = negate(Call("=", (lists.element(1), Lit("empty", TEXT)), BOOL))
    return lists.flat(xs, lists.kept(pieces, there, 1), 0)


def _others(xs: Scalar, of: Type) -> Scalar:
    """What is in no range of a multirange: all that there is, less one range after the other."""
    x, gap = lists.element(), lists.last(lists.carried())
    r = printed(x, of)
    until = case([(r.lower_inc, Lit(")", TEXT))], Lit("]", TEXT), TEXT)
    since = case([(r.upper_inc, Lit("(", TEXT))], Lit("[", TEXT), TEXT)
    low = Call("substring", (_low(x), Lit(2, INT4)), TEXT)
    high = Call("left", (_high(x), Lit(-1, INT4)), TEXT)
    cut = lists.appended(lists.but_last(lists.carried()), joined([_low(gap), Lit(",", TEXT), low, until]))
    rest = case([(absent(r.lower), lists.but_last(lists.carried()))], cut, lists.TEXTS)
    step = case([(absent(r.upper), rest)], lists.appended(rest, joined([since, high, Lit(",)", TEXT)])), lists.TEXTS)
    return lists.fold(xs, lists.listed([Lit(EVERYTHING, TEXT)]), step)


def _missing(*ms: Scalar) -> Scalar:
    return either(*(absent(m.args[0]) if isinstance(m, Call) and m.fn == MADE else absent(m) for m in ms))


def _once(ms: Sequence[Scalar], make: Callable[..., Scalar]) -> Scalar:
    """What is made of them, where each that the view computes is computed once."""
    names = [LETS + i if isinstance(m, Call) and m.fn == MADE else None for i, m in enumerate(ms)]
    got = make(*(m if n is None else made(lists.carried(n), m.type) for m, n in zip(ms, names, strict=True)))
    body = got.args[0] if isinstance(got, Call) and got.fn == MADE else got
    for m, n in zip(ms, names, strict=True):
        body = body if n is None else lists.let(texts(m), body, n)
    return made(body, got.type) if isinstance(got, Call) and got.fn == MADE else body


def arithmetic(op: str, a: Scalar, b: Scalar) -> Scalar:
    """a + b, a - b and a * b, of two of one type."""
    return _once((a, b), lambda x, y: _computed(op, x, y))


def _computed(op: str, a: Scalar, b: Scalar) -> Scalar:
    of, xs, ys = range_type(a.type), texts(a), texts(b)
    if op == "+":
        got = _united(Call("array_cat", (xs, ys), lists.TEXTS), of)
    else:
        got = _of_both(xs, ys if op == "*" else _others(ys, of), of)
    return made(strict(got, _missing(a, b)), a.type)


def _end(m: Scalar, last: bool) -> Range:
    """Its first range, or the last one; empty where it has none."""
    xs = texts(m)
    text = lists.last(xs) if last else Call("array_get", (xs, Lit(1, INT4)), TEXT)
    return replace(printed(text, range_type(m.type)), missing=_missing(m), empty=lists.is_empty(xs))


def _ends(m: Scalar) -> tuple[Range, Range]:
    if is_range(m.type):
        return parts(m), parts(m)
    return _end(m, False), _end(m, True)


ENDS: dict[str, Callable[[tuple[Range, Range], tuple[Range, Range]], Scalar]] = {
    "<<": lambda a, b: before(a[1], b[0]),
    ">>": lambda a, b: before(b[1], a[0]),
    "&<": lambda a, b: ends_with(a[1], b[1]),
    "&>": lambda a, b: begins_with(b[0], a[0]),
    "-|-": lambda a, b: either(meets(a[1], b[0]), meets(b[1], a[0])),
}


def operator(op: str, a: Scalar, b: Scalar) -> Scalar:
    """a op b, where one is a multirange; an untyped literal beside it is one, too. Raises InvalidSql where there is no
    such operator, UnsupportedSql for their order."""
    a, b = (cast(x, y.type) if x.type.name == "unknown" else x for x, y in ((a, b), (b, a)))
    return _once((a, b), lambda x, y: _related(op, x, y))


def _related(op: str, a: Scalar, b: Scalar) -> Scalar:
    if op in ("=", "<>") and a.type == b.type:
        return negate(_equal(a, b)) if op == "<>" else _equal(a, b)
    if op == "<@":
        return _contains(b, a, op)
    if op == "@>":
        return _contains(a, b, op)
    of = range_type(a.type if is_multirange(a.type) else b.type)
    if any(x.type not in (of, type_of(of)) for x in (a, b)) or op not in (*ENDS, "&&"):
        if a.type == b.type and op in ("<", ">", "<=", ">="):
            raise UnsupportedSql(
                f"{op} of {a.type} is not supported",
                code="unsupported_type",
                hint="Compare their bounds: lower(m), upper(m).",
            )
        refuse(a.type, op, b.type)
    if op == "&&":
        return _overlap(a, b)
    x, y = _ends(a), _ends(b)
    there = both(opposite(x[0].empty), opposite(y[0].empty))
    return strict(both(there, ENDS[op](x, y)), x[0].missing, y[0].missing)


def _equal(a: Scalar, b: Scalar) -> Scalar:
    """Equal ones have one text, but for numerics, which keep the digits they are written with."""
    if a.type.labels[0] != "nummultirange":
        return Call("=", (cast(a, TEXT), cast(b, TEXT)), BOOL)
    return both(_contains(a, b, "@>"), _contains(b, a, "@>"))


def _contains(a: Scalar, b: Scalar, op: str) -> Scalar:
    """Whether a has all of b, a value, a range or several."""
    if is_range(a.type) and is_multirange(b.type) and range_type(b.type) == a.type:
        r = parts(a)
        return strict(lists.every(texts(b), contains(r, printed(lists.element(), a.type))), r.missing, _missing(b))
    if not is_multirange(a.type):
        refuse(*((a.type, op, b.type) if op == "@>" else (b.type, op, a.type)))
    of, xs = range_type(a.type), texts(a)
    if is_range(b.type) and b.type == of:
        r = parts(b)
        held = lists.some(xs, contains(printed(lists.element(), of), r))
        return strict(either(r.empty, held), r.missing, _missing(a))
    if b.type == a.type:
        inner = contains(printed(lists.element(1), of), printed(lists.element(0), of))
        return strict(lists.every(texts(b), lists.some(xs, inner, 1)), _missing(a), _missing(b))
    if is_multirange(b.type) or is_range(b.type):
        refuse(*((a.type, op, b.type) if op == "@>" else (b.type, op, a.type)))
    found = lists.some(xs, told(holds(printed(lists.element(), of), b, op)))
    return strict(found, _missing(a), FALSE if isinstance(b, Lit) and b.value is not None else absent(b))


def _overlap(a: Scalar, b: Scalar) -> Scalar:
    if is_range(a.type):
        a, b = b, a
    of = range_type(a.type)
    x = printed(lists.element(), of)
    if is_range(b.type):
        r = parts(b)
        return strict(lists.some(texts(a), overlaps(x, r)), r.missing, _missing(a))
    inner = lists.some(texts(b), overlaps(x, printed(lists.element(1), of)), 1)
    return strict(lists.some(texts(a), inner), _missing(a), _missing(b))


ASKED: dict[str, Callable[[Range, Range], Scalar]] = {
    "lower": lambda a, z: a.lower,
    "upper": lambda a, z: z.upper,
    "isempty": lambda a, z: a.empty,
    "lower_inc": lambda a, z: both(opposite(a.empty), a.lower_inc),
    "upper_inc": lambda a, z: both(opposite(z.empty), z.upper_inc),
    "lower_inf": lambda a, z: both(opposite(a.empty), absent(a.lower)),
    "upper_inf": lambda a, z: both(opposite(z.empty), absent(z.upper)),
}


def function(name: str, args: Sequence[Scalar]) -> Scalar | None:
    """A function of multiranges, or one that makes them; None where it is another one of its name. Raises InvalidSql
    where there is none of these arguments."""
    if name in CONSTRUCTORS:
        return _constructed(name, args)
    if len(args) != 1:
        return None
    if name == "range_merge":
        return Call("cast", (_once(args, _merged),), range_type(args[0].type))
    return _once(args, lambda m: _asked(name, m)) if name in ASKED else None


def _asked(name: str, m: Scalar) -> Scalar:
    a, z = _ends(m)
    return strict(ASKED[name](a, z), a.missing)


def _merged(m: Scalar) -> Scalar:
    """The text of the range from its first bound to its last one."""
    xs = texts(m)
    first = Call("array_get", (xs, Lit(1, INT4)), TEXT)
    text = joined([_low(first), Lit(",", TEXT), _high(lists.last(xs))])
    text = case([(lists.is_empty(xs), Lit("empty", TEXT))], text, TEXT)
    return strict(text, _missing(m))


def _constructed(name: str, args: Sequence[Scalar]) -> Scalar:
    """int4multirange(r, …), multirange(r)."""
    of = Type("opaque", labels=(CONSTRUCTORS[name],)) if CONSTRUCTORS[name] else None
    if of is None and len(args) == 1 and is_range(args[0].type):
        of = args[0].type
    given = [cast(a, of) if of is not None and a.type.name == "unknown" else a for a in args]
    if of is None or any(a.type != of for a in given):
        raise InvalidSql(
            f"function {name}({', '.join(str(a.type) for a in args)}) does not exist",
            code="undefined_function",
            hint="Cast the arguments to the type of its ranges.",
        )
    return made(strict(_united(lists.listed([_text(a) for a in given]), of), *map(absent, given)), type_of(of))


def of_range(r: Scalar) -> Scalar:
    """A range cast to its multirange."""
    return _constructed("multirange", [r])
