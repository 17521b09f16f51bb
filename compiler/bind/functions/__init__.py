"""Functions a view may call: argument coercion and result types, as Postgres' catalog has them.

A function of the catalog is called as its row there says (`plain`), unless its family has a rule of its own for it. One
that has neither is refused by name.
"""

from __future__ import annotations

from functools import partial

from compiler.bind.coerce import coerce, no_function, unsupported
from compiler.bind.functions import arrays, jsons, numbers, regexes, texts, times
from compiler.bind.functions.rules import Rule, plain, variadic
from compiler.bind.operators import compare
from compiler.bind.range_parts import is_range
from compiler.errors import UnsupportedSql
from compiler.functions.signatures import found, signatures, volatile
from compiler.ir.scalar import Call, Scalar, case, cast, equal, null
from compiler.ir.types import BLANKS, BOOL, INT4, TEXT

SEE_BLANKS = {
    "coalesce",
    "greatest",
    "least",
    "nullif",
    "concat",
    "concat_ws",
    "format",
    "octet_length",
    "num_nulls",
    "num_nonnulls",
}


def _nullif(args: list[Scalar]) -> Scalar:
    a, b = args
    left = coerce(a, b.type if b.type.name != "unknown" else TEXT)
    if left.type.name == "jsonb":
        return case([(Call("json_equal", (left, coerce(b, left.type)), BOOL), null(left.type))], left, left.type)
    if is_range(left.type):
        return case([(compare("=", left, b), null(left.type))], left, left.type)
    apart = b.type.name not in (
        left.type.name,
        "unknown",
    )  # Postgres compares a real with a numeric as doubles, a date with a timestamp as that
    same = compare("=", left, b) if apart or BLANKS in (left.type, b.type) else equal(left, coerce(b, left.type))
    return case([(same, null(left.type))], left, left.type)


RULES: dict[str, Rule] = {
    **texts.RULES,
    **numbers.RULES,
    **times.RULES,
    **regexes.RULES,
    **arrays.RULES,
    **jsons.RULES,
    "coalesce": variadic("coalesce"),
    "greatest": variadic("greatest"),
    "least": variadic("least"),
    "nullif": _nullif,
    "num_nulls": lambda a: Call("num_nulls", tuple(a), INT4),
    "num_nonnulls": lambda a: Call("num_nonnulls", tuple(a), INT4),
}


def bind_function(name: str, args: list[Scalar]) -> Scalar:
    """The canonical call of a Postgres function; raises InvalidSql where there is none of these arguments, and
    UnsupportedSql for one that is not known or is volatile.

    A bpchar is cast to text for most, which takes the blanks at its end; `SEE_BLANKS` take it as it is.
    """
    if volatile(name):
        raise UnsupportedSql(
            f"the view calls {name}()",
            code="volatile_function",
            detail="Its value is not a function of the tables, so no two refreshes agree.",
            hint="Store the value in a column of the source.",
        )
    rule = RULES.get(name) or (partial(plain, name) if name in signatures() else None)
    if rule is None:
        raise unsupported(name)
    check_call(name, args)
    return rule(args if name in SEE_BLANKS else [cast(a, TEXT) if a.type == BLANKS else a for a in args])


def check_call(name: str, args: list[Scalar], within: bool = False) -> None:
    """Raises InvalidSql where Postgres has functions of this name, and none that takes these arguments, of which the
    last are those of WITHIN GROUP."""
    if found(name, [a.type for a in args], within) is False:
        raise no_function(name, args)
