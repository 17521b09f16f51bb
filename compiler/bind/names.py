"""Names that the binder makes up, and what the parts of binding ask of the whole."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sqlglot import exp

from compiler.bind.scope import Bound, Env, Scope
from compiler.catalog import Catalog
from compiler.ir.relation import Relation


def schema_of(column: exp.Expr) -> str | None:
    """What a column says before its table."""
    name = column.args.get("db")
    return None if name is None else str(name.this if name.args.get("quoted") else name.this.lower())


@dataclass
class Names:
    """Fresh names: unique within a view, made from its text alone."""

    used: dict[str, int] = field(default_factory=dict, kw_only=True)

    def fresh(self, base: str) -> str:
        """A name not used before in this view, made from `base`."""
        base = re.sub(r"[^a-z0-9_]", "_", base.lower()).strip("_") or "c"
        if base[0].isdigit():
            base = f"c{base}"
        n = self.used.get(base, 0) + 1
        self.used[base] = n
        name = base if n == 1 else f"{base}_{n}"
        if n > 1 and name in self.used:
            return self.fresh(base)
        self.used.setdefault(name, 1)
        return name


class QueryBinder(Protocol):
    """What binds a query, and with it the queries within it."""

    @property
    def catalog(self) -> Catalog: ...

    @property
    def enums(self) -> Mapping[str, tuple[str, ...]]:
        """Labels of enum types by their names."""
        ...

    def fresh(self, base: str) -> str:
        """A name not used before in the view."""
        ...

    def query(self, e: exp.Expr, env: Env, parent: Scope | None) -> Bound: ...

    def named(self, t: exp.Table, env: Env) -> Bound:
        """A table, CTE or other view by its name."""
        ...

    def subquery(self, e: exp.Expr, env: Env, scope: Scope) -> Relation: ...
