"""Partial views have no place with the executors: there are none to be asked of."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from compiler.errors import CompilerBug
from compiler.maintain.asked import Asked
from compiler.maintain.plan import ViewPlan


class NoKeys:
    """What an engine says of the keys of partial views, where `deploy` places none."""

    def keys(self) -> set[str]:
        return set()

    def look_up(self, asked: Asked, wanted: pa.Table, at: Any = None) -> pa.Table:
        raise _not_partial(asked)

    def asked_for(self, asked: Asked, at: Any = None) -> pa.Table:
        raise _not_partial(asked)

    def weight(self, plan: ViewPlan) -> tuple[int, int]:
        raise _not_partial(plan.asked)

    def weights(self, plan: ViewPlan) -> pa.Table:
        raise _not_partial(plan.asked)

    def whole(self, plan: ViewPlan) -> str:
        raise _not_partial(plan.asked)

    def read_whole(self, plan: ViewPlan, at: Any = None) -> pa.Table:
        raise _not_partial(plan.asked)


def _not_partial(asked: Asked | None) -> CompilerBug:
    return CompilerBug(f'"{asked.view if asked else ""}" is partial, and kept by the executors')
