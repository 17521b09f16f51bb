"""One-dimensional arrays."""

from __future__ import annotations

from compiler.bind.coerce import coerce, constant_int, unsupported, without_blanks
from compiler.bind.functions.rules import Rule
from compiler.bind.operators import no_operator
from compiler.errors import UnsupportedSql
from compiler.functions.signatures import found
from compiler.ir import types
from compiler.ir.scalar import Call, Lit, Scalar, case, cast, is_null
from compiler.ir.types import BOOL, INT4, TEXT, Type


def _dimension(fn: str) -> Rule:
    """array_length and its like: there is one dimension."""

    def rule(args: list[Scalar]) -> Scalar:
        n = constant_int(args[1])
        if n is not None and n != 1:
            return Lit(None, INT4)
        length: Scalar = Call("array_length", (args[0],), INT4)
        if n is None:
            length = case([(Call("=", (coerce(args[1], INT4), Lit(1, INT4)), BOOL), length)], Lit(None, INT4), INT4)
        if fn == "array_length":
            return length
        return case([(is_null(length), Lit(None, INT4))], Lit(1, INT4), INT4)

    return rule


def _ndims(args: list[Scalar]) -> Scalar:
    return _dimension("array_lower")([args[0], Lit(1, INT4)])


def _element(fn: str) -> Rule:
    """Of the arguments one is the array; the others are of the type of its elements."""

    def rule(args: list[Scalar]) -> Scalar:
        at = 1 if fn == "array_prepend" else 0
        args = alike(fn, args, at) if fn not in ("array_position", "array_positions") else args
        a = args[at] = coerce(args[at], types.array(elements(args, at)))
        if a.type == types.array(types.BLANKS) and fn in ("array_remove", "array_replace"):
            raise UnsupportedSql(
                f"{fn}() over chars of several lengths is not supported",
                code="unsupported_function",
                hint="Cast the elements to text.",
            )
        if fn in ("array_position", "array_positions"):
            a, args = without_blanks(a), [without_blanks(x) for x in args]
        element = a.type.element or TEXT
        t = INT4 if fn == "array_position" else types.array(INT4) if fn == "array_positions" else a.type
        return Call(fn, tuple(x if x == a else coerce(x, element) for x in args), t)

    return rule


def elements(args: list[Scalar], *arrays: int) -> Type:
    """The type that elements of arrays, at these places, and the arguments beside them have in common."""
    of_each = [a.type if i not in arrays else a.type.element for i, a in enumerate(args)]
    return types.common([t for t in of_each if t is not None and t.name != "unknown"]) or TEXT


def alike(what: str, args: list[Scalar], *arrays: int) -> list[Scalar]:
    """The arguments with elements of one type; raises UnsupportedSql where each number keeps digits of its own."""
    if not any(args[i].type.name == "array" for i in arrays):
        return args
    own = [a.type.element for i, a in enumerate(args) if i in arrays and a.type.element is not None]
    t = elements(args, *arrays)
    if types.is_string(t) or all(x == t for x in own):
        return args
    if not types.is_numeric(t):
        return [cast(a, types.array(t) if i in arrays else t) for i, a in enumerate(args)]
    if any(not types.is_numeric(x) or types.digits(x)[1] < types.digits(t)[1] for x in own):
        raise unsupported(f"{what} of {' and '.join(str(a.type) for a in args)}", "Cast one to the type of the other.")
    return args


def _position(args: list[Scalar]) -> Scalar:
    """With a third argument, from that place on."""
    if len(args) < 3:
        return _element("array_position")(args)
    start = coerce(args[2], INT4)
    a = coerce(args[0], types.array(elements(args[:2], 0)))
    place = _element("array_position")([slice_of(a, start, None), args[1]])
    return Call("-", (Call("+", (place, start), INT4), Lit(1, INT4)), INT4)


def _cat(args: list[Scalar]) -> Scalar:
    args = alike("array_cat", args, 0, 1)
    t = next((a.type for a in args if a.type.name == "array"), types.array(TEXT))
    return Call("array_cat", tuple(cast(a, t) for a in args), t)


def concat(a: Scalar, b: Scalar) -> Scalar:
    """a || b, of which one is an array; raises InvalidSql where there is no such operator."""
    kinds = {a.type.name, b.type.name}
    one = kinds in ({"array"}, {"array", "unknown"})
    name = "array_cat" if one else "array_append" if a.type.name == "array" else "array_prepend"
    if not found(name, [a.type, b.type]):
        raise no_operator(a.type, "||", b.type)
    return RULES[name]([a, b])


def slice_of(a: Scalar, low: Scalar | None, high: Scalar | None) -> Scalar:
    """a[low:high]; what lies outside is left out, and what starts below 1 counts from there."""
    first = coerce(low, INT4) if low is not None else Lit(1, INT4)
    last = coerce(high, INT4) if high is not None else Call("cardinality", (a,), INT4)
    return Call("array_slice", (a, first, last), a.type)


def _trim(args: list[Scalar]) -> Scalar:
    rest = Call("-", (Call("cardinality", (args[0],), INT4), coerce(args[1], INT4)), INT4)
    return slice_of(args[0], None, rest)


RULES: dict[str, Rule] = {
    "array_length": _dimension("array_length"),
    "array_upper": _dimension("array_length"),
    "array_lower": _dimension("array_lower"),
    "array_ndims": _ndims,
    "array_append": _element("array_append"),
    "array_prepend": _element("array_prepend"),
    "array_remove": _element("array_remove"),
    "array_position": _position,
    "array_positions": _element("array_positions"),
    "array_replace": _element("array_replace"),
    "array_cat": _cat,
    "trim_array": _trim,
    "string_to_array": lambda a: string_to_array([coerce(x, TEXT) for x in a]),
}


def string_to_array(args: list[Scalar]) -> Scalar:
    """Parts between separators: no separator at all gives characters, an empty one the whole; the third argument
    stands for NULL."""
    x, by, *rest = args
    t = types.array(TEXT)
    if isinstance(by, Lit):
        got: Scalar = Call("characters", (x,), t) if by.value is None else Call("string_to_array", (x, by), t)
        if by.value == "":
            got = case(
                [(is_null(x), Lit(None, t)), (Call("=", (x, Lit("", TEXT)), BOOL), Call("array", (), t))],
                Call("array", (x,), t),
                t,
            )
    else:
        whole = case([(Call("=", (x, Lit("", TEXT)), BOOL), Call("array", (), t))], Call("array", (x,), t), t)
        got = case(
            [
                (is_null(x), Lit(None, t)),
                (is_null(by), Call("characters", (x,), t)),
                (Call("=", (by, Lit("", TEXT)), BOOL), whole),
            ],
            Call("string_to_array", (x, by), t),
            t,
        )
    if rest and rest[0] != Lit(None, TEXT):
        got = Call("array_replace", (got, rest[0], Lit(None, TEXT)), t)
    return got
