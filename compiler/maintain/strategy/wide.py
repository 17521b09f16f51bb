"""The variance of whole numbers of 19 digits, whose squares do not add up in 38: of each number the high and the low
digits by themselves.

x = M h + l, and m = M i + k the mean, rounded. Then Σ(x − m)² = M² Σ(h − i)² + 2M Σ(h − i)(l − k) + Σ(l − k)², and
each of the three comes exactly from sums of h, l and their products. Their total is exact where it fits, and a
double where it is so large that nothing of its first digits cancels.
"""

from __future__ import annotations

from compiler.bind.operators import binary
from compiler.ir import types
from compiler.ir.scalar import Call, Lit, Scalar, case, cast
from compiler.ir.types import BOOL, FLOAT8, INT8

M = 10**9
WHOLE = types.numeric(38, 0)
FITS = 10**16  # of Σ(h − i)²


def digits(x: Scalar) -> tuple[Scalar, Scalar]:
    """h and l of a bigint: both with its sign."""
    return Call("/", (x, Lit(M, INT8)), INT8), Call("%", (x, Lit(M, INT8)), INT8)


def product(a: Scalar, b: Scalar) -> Scalar:
    return binary("*", cast(a, types.as_numeric(a.type)), b)


def spread(n: Scalar, s: Scalar, high: Scalar, squares: tuple[Scalar, Scalar, Scalar]) -> Scalar:
    """Σ(x − mean)², from the count, Σx, Σh, and Σh², Σhl, Σl²."""
    hh, hl, ll = squares
    mean = cast(binary("/", s, n), WHOLE)
    i, k = (cast(d, WHOLE) for d in digits(cast(mean, INT8)))
    low = _minus(s, _times(Lit(str(M), WHOLE), high))
    top = _plus(_minus(hh, _times(Lit("2", WHOLE), _times(i, high))), _times(n, _times(i, i)))
    mixed = _plus(_minus(_minus(hl, _times(i, low)), _times(k, high)), _times(n, _times(i, k)))
    rest = _plus(_minus(ll, _times(Lit("2", WHOLE), _times(k, low))), _times(n, _times(k, k)))
    exact = _plus(_plus(_times(_number(M * M), top), _times(_number(2 * M), mixed)), rest)
    terms = [
        _double("*", _float(Lit(str(by), types.numeric(19, 0))), _float(x)) for by, x in ((M * M, top), (2 * M, mixed))
    ]
    wide = _double("+", _double("+", *terms), _float(rest))
    total = case([(Call("<", (top, _number(FITS)), BOOL), _float(exact))], wide, FLOAT8)
    left = _float(_minus(s, _times(n, mean)))
    return _double("-", total, _double("/", _double("*", left, left), _float(n)))


def _number(x: int) -> Lit:
    return Lit(str(x), WHOLE)


def _times(a: Scalar, b: Scalar) -> Scalar:
    return Call("*", (a, b), WHOLE)


def _plus(a: Scalar, b: Scalar) -> Scalar:
    return Call("+", (a, b), WHOLE)


def _minus(a: Scalar, b: Scalar) -> Scalar:
    return Call("-", (a, b), WHOLE)


def _float(e: Scalar) -> Scalar:
    return cast(e, FLOAT8)


def _double(op: str, a: Scalar, b: Scalar) -> Scalar:
    return Call(op, (_float(a), _float(b)), FLOAT8)
