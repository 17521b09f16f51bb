"""What an aggregate of sums is made of: accumulators, and the expression over them that is its value.

`FINAL` has a row for each aggregate whose algebra is a group. Its accumulators are counts and sums (`sum0`: of nothing
0) of exact numbers, so that what leaves can be taken away again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from compiler.bind.operators import binary
from compiler.functions.aggregates import TOTAL
from compiler.ir import types
from compiler.ir.relation import Agg
from compiler.ir.scalar import Call, Col, Lit, Scalar, case, cast, conj, equal, is_null, negate
from compiler.ir.types import BOOL, FLOAT8, INT8, Type
from compiler.maintain.strategy import wide

ZERO = Lit(0, INT8)


@dataclass
class Accumulators:
    """Accumulators asked for so far, by what they compute."""

    taken: set[str]
    aggs: dict[Agg, str] = field(default_factory=dict)

    def get(self, name: str, agg: Agg) -> Col:
        if agg not in self.aggs:
            base, n = name, 2
            while name in self.taken:
                name, n = f"{base}_{n}", n + 1
            self.taken.add(name)
            self.aggs[agg] = name
        return Col(self.aggs[agg], agg.type)

    def count(self, name: str, keep: list[Scalar]) -> Col:
        return self.get(name, Agg("count", (), INT8, conj(keep) if keep else None))

    def sum(self, name: str, x: Scalar, keep: list[Scalar]) -> Col:
        scale = types.digits(x.type)[1]
        return self.get(name, Agg(TOTAL, (x,), types.numeric(38, scale), conj(keep) if keep else None))


def _present(x: Scalar) -> Scalar:
    return negate(is_null(x))


def _count(name: str, a: Agg, keep: list[Scalar], core: Accumulators) -> Scalar:
    return core.count(name, keep + [_present(x) for x in a.args if not isinstance(x, Lit)])


def _bools(name: str, a: Agg, keep: list[Scalar], core: Accumulators) -> Scalar:
    n = core.count(f"{name}_known", [*keep, _present(a.args[0])])
    hit = Call("is_false" if a.fn == "bool_and" else "is_true", (a.args[0],), BOOL)
    found = core.count(f"{name}_{'false' if a.fn == 'bool_and' else 'true'}", [*keep, hit])
    value = Call("=" if a.fn == "bool_and" else ">", (found, ZERO), BOOL)
    return case([(equal(n, ZERO), Lit(None, BOOL))], value, BOOL)


def _sums(name: str, a: Agg, keep: list[Scalar], core: Accumulators) -> Scalar:
    """SUM, AVG and the variances of one number."""
    x = a.args[0]
    keep = [*keep, _present(x)]
    n = core.count(f"{name}_known", keep)
    s = core.sum(f"{name}_sum", x, keep)
    nothing = [(equal(n, ZERO), Lit(None, a.type))]
    if a.fn == "sum":
        return case(nothing, cast(s, a.type), a.type)
    if a.fn == "avg":
        return case(nothing, cast(binary("/", s, n), a.type), a.type)
    if x.type == INT8:
        high, low = wide.digits(x)
        sums = [
            core.sum(f"{name}_{k}", wide.product(p, q), keep)
            for k, p, q in (("hh", high, high), ("hl", high, low), ("ll", low, low))
        ]
        return _variance(
            a.fn, n, wide.spread(n, s, core.sum(f"{name}_high", high, keep), (sums[0], sums[1], sums[2])), a.type
        )
    squares = core.sum(f"{name}_squares", binary("*", cast(x, types.as_numeric(x.type)), x), keep)
    return _variance(a.fn, n, _spread(n, squares, s, s), a.type)


def _bits(name: str, a: Agg, keep: list[Scalar], core: Accumulators) -> Scalar:
    """Each bit by how many values have it set: all of them, any of them, or an odd number."""
    (x,) = a.args
    n = core.count(f"{name}_known", [*keep, _present(x)])
    width = types.WIDTHS[x.type.name]
    out: Scalar | None = None
    for i in range(width):
        bit = Call("bit_and", (Call("shift_right", (cast(x, INT8), Lit(i, types.INT4)), INT8), Lit(1, INT8)), INT8)
        found = core.count(f"{name}_{i}", [*keep, equal(bit, Lit(1, INT8))])
        held = {
            "bit_and": equal(found, n),
            "bit_or": Call(">", (found, ZERO), BOOL),
            "bit_xor": equal(Call("%", (found, Lit(2, INT8)), INT8), Lit(1, INT8)),
        }[a.fn]
        worth = Lit(-(2**i) if i == width - 1 else 2**i, INT8)
        part = case([(held, worth)], ZERO, INT8)
        out = part if out is None else Call("bit_or", (out, part), INT8)
    assert out is not None
    return case([(equal(n, ZERO), Lit(None, a.type))], cast(out, a.type), a.type)


def _float(e: Scalar) -> Scalar:
    return cast(e, FLOAT8)


def _op(op: str, a: Scalar, b: Scalar) -> Scalar:
    return Call(op, (_float(a), _float(b)), FLOAT8)


def _wide(a: Scalar, b: Scalar) -> Scalar:
    """a · b without loss: exact sums are multiplied before anything is subtracted."""
    scale = types.digits(a.type)[1] + types.digits(b.type)[1]
    return Call("*", (a, b), types.numeric(38, scale))


def _minus(a: Scalar, b: Scalar) -> Scalar:
    return Call("-", (a, b), a.type)


def _spread(n: Scalar, sxy: Scalar, sx: Scalar, sy: Scalar) -> Scalar:
    """n times the covariance: Σ(x − mx)(y − my) − rx ry / n.

    The m are the means at the scale of the values, the r what is left of the sums then (Σx − n mx). All but the
    last, small term is exact: nothing as large as n Σxy is made, and no digits are lost where the values are far
    from zero.
    """

    def mean(s: Scalar) -> Scalar:
        return cast(binary("/", s, n), types.numeric(38, types.digits(s.type)[1]))

    def rest(s: Scalar) -> Scalar:
        return _minus(s, _wide(n, mean(s)))

    centred = _minus(_minus(sxy, _wide(mean(sx), sy)), _wide(rest(sx), mean(sy)))
    return _op("-", centred, _op("/", _op("*", rest(sx), rest(sy)), n))


def _variance(fn: str, n: Scalar, spread: Scalar, t: Type) -> Scalar:
    population = fn.endswith("pop")
    value = _op("/", spread, n if population else _minus(n, Lit(1, INT8)))
    if fn.startswith("stddev"):
        value = Call("sqrt", (value,), FLOAT8)
    few = Call("<", (n, Lit(1 if population else 2, INT8)), BOOL)
    return case([(few, Lit(None, t))], cast(value, t), t)


def _pair(name: str, a: Agg, keep: list[Scalar], core: Accumulators) -> Scalar:
    y, x = a.args
    keep = [*keep, _present(y), _present(x)]
    n = core.count(f"{name}_known", keep)
    if a.fn == "regr_count":
        return n
    sx, sy = core.sum(f"{name}_sx", x, keep), core.sum(f"{name}_sy", y, keep)
    empty = equal(n, ZERO)
    none = Lit(None, FLOAT8)
    if a.fn in ("regr_avgx", "regr_avgy"):
        return case([(empty, none)], _op("/", sx if a.fn == "regr_avgx" else sy, n), FLOAT8)

    def product(p: Scalar, q: Scalar, suffix: str) -> Scalar:
        return core.sum(f"{name}_{suffix}", binary("*", cast(p, types.as_numeric(p.type)), q), keep)

    def dev(p: Scalar, q: Scalar, sp: Scalar, sq: Scalar, suffix: str) -> Scalar:
        return _spread(n, product(p, q, suffix), sp, sq)

    if a.fn in ("covar_pop", "covar_samp"):
        xy = dev(x, y, sx, sy, "sxy")
        if a.fn == "covar_pop":
            return case([(empty, none)], _op("/", xy, n), FLOAT8)
        few = Call("<", (n, Lit(2, INT8)), BOOL)
        return case([(few, none)], _op("/", xy, _minus(n, Lit(1, INT8))), FLOAT8)
    if a.fn == "regr_sxx":
        return case([(empty, none)], dev(x, x, sx, sx, "sxx"), FLOAT8)
    if a.fn == "regr_syy":
        return case([(empty, none)], dev(y, y, sy, sy, "syy"), FLOAT8)
    xy = dev(x, y, sx, sy, "sxy")
    if a.fn == "regr_sxy":
        return case([(empty, none)], xy, FLOAT8)
    xx = dev(x, x, sx, sx, "sxx")
    zero = Lit("0", FLOAT8)
    if a.fn == "regr_slope":
        return case([(empty, none), (equal(xx, zero), none)], _op("/", xy, xx), FLOAT8)
    if a.fn == "regr_intercept":
        above = _op("-", _op("*", sy, xx), _op("*", sx, xy))
        return case([(empty, none), (equal(xx, zero), none)], _op("/", above, _op("*", n, xx)), FLOAT8)
    yy = dev(y, y, sy, sy, "syy")
    one = Lit("1", FLOAT8)
    if a.fn == "corr":
        root = _op("*", Call("sqrt", (xx,), FLOAT8), Call("sqrt", (yy,), FLOAT8))
        return case([(empty, none), (equal(xx, zero), none), (equal(yy, zero), none)], _op("/", xy, root), FLOAT8)
    r2 = _op("/", _op("*", xy, xy), _op("*", xx, yy))
    return case([(empty, none), (equal(xx, zero), none), (equal(yy, zero), one)], r2, FLOAT8)


Final = Callable[[str, Agg, list[Scalar], Accumulators], Scalar]  # over the accumulators that it asks for, by a name
FINAL: dict[str, Final] = {
    "count": _count,
    "bool_and": _bools,
    "bool_or": _bools,
    "bit_and": _bits,
    "bit_or": _bits,
    "bit_xor": _bits,
    "sum": _sums,
    "avg": _sums,
    "var_pop": _sums,
    "var_samp": _sums,
    "stddev_pop": _sums,
    "stddev_samp": _sums,
    "covar_pop": _pair,
    "covar_samp": _pair,
    "corr": _pair,
    "regr_count": _pair,
    "regr_avgx": _pair,
    "regr_avgy": _pair,
    "regr_sxx": _pair,
    "regr_syy": _pair,
    "regr_sxy": _pair,
    "regr_slope": _pair,
    "regr_intercept": _pair,
    "regr_r2": _pair,
}


def final(name: str, a: Agg, core: Accumulators) -> Scalar:
    """The value of an aggregate that rows can be taken away from."""
    if a.fn in FINAL:
        return FINAL[a.fn](name, a, [a.filter] if a.filter is not None else [], core)
    return core.get(name, a)  # an extremum, or a total, is kept as it is
