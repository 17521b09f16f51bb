"""Types that untyped literals and branches take, and pieces that several rules share."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.errors import InvalidSql, UnsupportedSql
from compiler.formats.input.numerics import check_field
from compiler.ir import types
from compiler.ir.scalar import Call, Lit, Scalar, case, cast, read_literal
from compiler.ir.types import BOOL, INT4, TEXT, Type


def coerce(e: Scalar, t: Type) -> Scalar:
    """Give an untyped literal a type; leave typed expressions alone."""
    return cast(e, t) if e.type.name == "unknown" else e


def unify(args: list[Scalar], what: str) -> tuple[list[Scalar], Type]:
    """Arguments cast to the type that CASE or COALESCE of them has."""
    t = types.common([a.type for a in args])
    if t is None:
        kinds = ", ".join(sorted({str(a.type) for a in args}))
        raise InvalidSql(f"{what} types {kinds} cannot be matched", code="datatype_mismatch")
    untyped = [a.value for a in args if isinstance(a, Lit) and a.type.name == "unknown" and isinstance(a.value, str)]
    if types.is_numeric(t) and untyped:  # they keep their digits
        args = [untyped_number(a) for a in args]
        t = types.common([a.type for a in args]) or t
    if types.is_padded(t) and untyped:
        t = types.BLANKS  # and have no blanks added
    if t.name == "varchar" and t.precision and any(len(x) > t.precision for x in untyped):
        t = Type(t.name)  # and their length
    return [cast(a, t) for a in args], t


def untyped_number(e: Scalar) -> Scalar:
    """An untyped literal as a numeric with the scale it is written with; others as they are. Raises InvalidSql for
    what is no number."""
    if not isinstance(e, Lit) or e.type.name != "unknown" or not isinstance(e.value, str):
        return e
    return number(read_literal(e, types.numeric()))


def number_of_field(e: Lit, t: Type) -> Scalar:
    """The same in a cast to numeric(p, s), which it must fit; where a literal only takes a column's type it need
    not."""
    found = untyped_number(e)
    try:
        check_field(str(e.value), t.precision or 0, t.scale or 0)
    except InvalidSql as error:
        error.at = e.at
        raise
    return found


def number(text: str) -> Lit:
    """A numeric literal with the scale it is written with."""
    from decimal import Decimal, InvalidOperation

    try:
        d = Decimal(text.strip())
    except InvalidOperation as e:
        raise InvalidSql(f'invalid input syntax for type numeric: "{text}"', code="invalid_text") from e
    exponent = d.as_tuple().exponent
    if not isinstance(exponent, int):
        raise UnsupportedSql(f"numeric {text} has no counterpart in the engines", code="numeric_special")
    scale = max(0, -exponent)
    whole = max(len(d.as_tuple().digits) + exponent, 1)
    return Lit(format(d, "f"), types.numeric(whole + scale, scale))


def padded(e: Scalar) -> Scalar:
    """A char(n) with the blanks that LIKE and output see; other values as they are."""
    if e.type == types.BLANKS:
        return Call("with_blanks", (e,), TEXT)
    if not types.is_padded(e.type):
        return e
    return Call("rpad", (Call("cast", (e,), TEXT), Lit(e.type.precision, INT4), Lit(" ", TEXT)), TEXT)


def without_blanks(e: Scalar) -> Scalar:
    """A bpchar in the form that equal ones share; other values as they are."""
    if e.type == types.array(types.BLANKS):
        return cast(e, types.array(Type("bpchar")))
    return cast(e, Type("bpchar")) if e.type == types.BLANKS else e


def printed(a: Scalar) -> Scalar:
    """A value as its type's output function has it: a boolean is t or f."""
    a = padded(a)
    if a.type.name != "bool":
        return cast(a, TEXT)
    return case([(a, Lit("t", TEXT)), (Call("not", (a,), BOOL), Lit("f", TEXT))], Lit(None, TEXT), TEXT)


def normal(e: Scalar) -> Scalar:
    """A jsonb value in the form that equal ones share, for keys: 1 and 1.0 are equal; other values as they are."""
    if e.type.name == "array" and e.type.element is not None and e.type.element.name == "jsonb":
        raise UnsupportedSql(
            "equal values of jsonb[] are not found",
            code="unsupported_operator",
            hint="Take its elements apart: unnest(x), or x[1].",
        )
    return Call("json_norm", (e,), e.type) if e.type.name == "jsonb" else e


def constant_text(e: Scalar, what: str) -> str:
    """The text of a constant argument; raises UnsupportedSql where it is none."""
    if not isinstance(e, Lit) or not isinstance(e.value, str):
        raise UnsupportedSql(f"{what} that is not a constant is not supported", code="unsupported_function")
    return e.value


def constant_int(e: Scalar) -> int | None:
    return e.value if isinstance(e, Lit) and isinstance(e.value, int) else None


def joined(parts: Sequence[Scalar]) -> Scalar:
    """Texts one after the other; NULL when one is."""
    out = parts[0] if parts else Lit("", TEXT)
    for p in parts[1:]:
        out = Call("||", (out, p), TEXT)
    return out


def no_function(name: str, args: Sequence[Scalar]) -> InvalidSql:
    return InvalidSql(
        f"function {name}({', '.join(str(a.type) for a in args)}) does not exist",
        code="undefined_function",
        hint="No function of this name takes arguments of these types. You might need a cast.",
    )


def unsupported(name: str, hint: str = "") -> UnsupportedSql:
    """Of a function by its name, or of what it is called with, in words."""
    return UnsupportedSql(
        f"function {name}() is not supported" if name.isidentifier() else f"{name} is not supported",
        code="unsupported_function",
        detail="Its meaning in Postgres has no checked counterpart in the engines.",
        hint=hint or "Compute it in the source, or in the query that reads the view.",
    )
