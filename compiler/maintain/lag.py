"""How far a view may lag behind the source, and how much work may be left when somebody asks for it sooner."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.errors import InvalidSql
from compiler.formats.intervals import parse_interval

DAY = 86_400.0


@dataclass(frozen=True)
class Lag:
    """`seconds` that a view may lag. `final_work`: the share of a recomputation that may be left to do at any time."""

    seconds: float
    final_work: float = 1.0


def parse_lag(view: str, target_lag: str, final_work: str = "1") -> Lag:
    """What a view's options say: an interval, and a share above 0 and up to 1. Raises InvalidSql."""
    try:
        months, days, micros = parse_interval(target_lag)
    except InvalidSql as e:
        raise _wrong(view, "target_lag", target_lag, e.message) from e
    seconds = months * 30 * DAY + days * DAY + micros / 1e6
    if seconds <= 0:
        raise _wrong(view, "target_lag", target_lag, "A view lags for some time, as '10 s' or '1 h'.")
    try:
        share = float(final_work)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise _wrong(view, "final_work", final_work, "It is a share of a recomputation: above 0, up to 1.")
    return Lag(seconds, share)


def _wrong(view: str, option: str, text: str, why: str) -> InvalidSql:
    return InvalidSql(
        f"view \"{view}\": {option} = '{text}'",
        detail=why,
        hint="WITH (target_lag = '1 h', final_work = 0.05)",
        code="unknown_option",
    )
