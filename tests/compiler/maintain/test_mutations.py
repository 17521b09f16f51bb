"""The proof has teeth: each delta rule, and each way a state takes its change, made wrong in one place, is caught by
it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from compiler.delta import bilinear, keyed, linear, recursive
from compiler.delta import restrict as restriction
from compiler.errors import CompilerBug
from compiler.ir.relation import (
    Aggregate,
    Filter,
    LeftJoin,
    Net,
    Project,
    Relation,
    Union,
    Unnest,
    Values,
    Weigh,
    empty,
    is_empty,
)
from compiler.ir.scalar import FALSE, TRUE, Call, Col
from compiler.ir.zset import Database
from compiler.maintain import differentiate, flush, groups
from compiler.maintain.asked import arrived, left
from compiler.maintain.change import Append
from compiler.maintain.differentiate import Differentiation
from tests.compiler.maintain.proof import follows
from tests.compiler.maintain.strategies import SOME as KINDS
from tests.compiler.maintain.strategies import databases, queries
from tests.compiler.maintain.test_paced import follows_paces
from tests.compiler.maintain.test_partial import follows_keys
from tests.compiler.maintain.test_program import EVERY

MANY = settings(
    max_examples=4000, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
Patch = Callable[[pytest.MonkeyPatch], None]
Proof = Callable[[Relation, Database, st.DataObject], None]
PROOFS: dict[str, Proof] = {  # of each strategy, of partial views and of paced ones
    **{name: partial(follows, offer) for name, offer in EVERY.items()},
    "partial": follows_keys,
    "paces": follows_paces,
}
LISTED = Path(__file__).parents[3] / "docs/proof.md"


def swap(module: Any, name: str, make: Callable[[Any], Any]) -> Patch:
    """Puts `make(what is there)` in the place of a function."""
    return lambda m: m.setattr(module, name, make(getattr(module, name)))


def without(part: int) -> Callable[[Any], Any]:
    """A sum of terms less one of them."""

    def wrong(plus: Any) -> Any:
        def sum_of(like: Relation, parts: list[Relation]) -> Relation:
            some = [p for p in parts if not is_empty(p)]
            return plus(like, some[:part] + some[part + 1 :] if len(some) > part else some)

        return sum_of

    return wrong


def netted_keys(keys_of: Any) -> Any:
    """K = δ(π ΔR) in place of δ(π |ΔR|): an update within a group cancels."""

    def wrong(r: Relation, exprs: list[Any]) -> Any:
        got = Net(Project(r, tuple((f"n{i}", e) for i, e in enumerate(exprs)))) if exprs else r
        return keys_of(got, [Col(f"n{i}", e.type) for i, e in enumerate(exprs)])

    return wrong


def emptied_stay(recomputed: Any) -> Any:
    def wrong(q: Aggregate, change: Relation, resolve: Any) -> Relation:
        got = recomputed(q, change, resolve)
        return got.input.right if q.keys and isinstance(got, Project) and isinstance(got.input, LeftJoin) else got

    return wrong


def unsorted(method: Any) -> Any:
    def wrong(self: Differentiation, states: Any) -> Any:
        p = method(self, states)
        p.changes.reverse()
        return p

    return wrong


def of_no_rows(change: Any) -> Any:
    """A change that takes nothing of what it should."""
    return lambda s, source, rule: change(s, Filter(source, FALSE), rule)


def nothing_cleared(clear: Any) -> Any:
    return lambda s, rule: Append(s, s.definition, rule)


def kept_partitions_stay(partitions: Any) -> Any:
    def wrong(*args: Any) -> Relation:
        got = partitions(*args)
        return got.inputs[0] if isinstance(got, Union) else got

    return wrong


def all_taken(resolve: Any) -> Any:
    """Inputs of which a state takes nothing are read as if it took all that waits of them."""

    def wrong(self: Any, r: Relation) -> Relation:
        taken, self.taken = self.taken, frozenset(self.inputs)
        got: Relation = resolve(self, r)
        self.taken = taken
        return got

    return wrong


MUTATIONS: dict[str, Patch] = {
    "Δσ(R) = ∅": swap(linear, "unary", lambda f: lambda q, d: empty(q) if isinstance(q, Filter) else f(q, d)),
    "Δπ(R) = ∅": swap(linear, "unary", lambda f: lambda q, d: empty(q) if isinstance(q, Project) else f(q, d)),
    "Δ of a weight forgets the weight": swap(
        linear, "unary", lambda f: lambda q, d: d if isinstance(q, Weigh) else f(q, d)
    ),
    "Δ(R + S) = ΔR": swap(linear, "union", lambda f: lambda q, *d: f(q, d[0])),
    "Δ(R ⋈ S) without ΔR ⋈ ΔS": swap(bilinear, "after", lambda f: keyed.before),
    "Δ(R ⋈ S) with ΔR ⋈ ΔS twice": swap(bilinear, "before", lambda f: keyed.after),
    "Δ(R ⋈ S) without R⁻ ⋈ ΔS": swap(bilinear, "plus", without(1)),
    "Δ(L ⟕ R) without A ⟕ R⁺": swap(keyed, "plus", without(1)),
    "Δ(L ⟕ R) without − A ⟕ R⁻": swap(keyed, "plus", without(2)),
    "Δ(L ⟕ R) with A of L⁺": swap(
        keyed, "meeting", lambda f: lambda q, left, dr, pairs: f(q, keyed.after(left), dr, pairs)
    ),
    "Δγ(R) without − γ(R⁻⋉K)": swap(
        keyed, "_difference", lambda f: lambda q, e, d: keyed.after(q) if not e else f(q, e, d)
    ),
    "K = δ(π ΔR), below operators": swap(keyed, "keys_of", netted_keys),
    "K = δ(π ΔR), of windows that are kept": swap(differentiate, "keys_of", netted_keys),
    "K = δ(π ΔR), of groups that are recomputed": swap(groups, "keys_of", netted_keys),
    "a recursion that loses rows is only extended": swap(
        recursive, "_gone", lambda f: lambda q, d: Values((Col("gone", TRUE.type),), ())
    ),
    "a recursion starts from ΔB alone": swap(recursive, "_as", lambda f: lambda rows, n: empty(n)),
    "accumulators are replaced by the batch's": swap(groups, "plus", lambda f: lambda old, new: new),
    "groups whose accumulators are all of one batch are left out": swap(
        differentiate, "nonzero", lambda f: lambda r: Filter(r, FALSE)
    ),
    "an extremum that left stays": swap(groups, "gone", lambda f: lambda *a: FALSE),
    "a recomputed group without rows stays": swap(differentiate, "recomputed", emptied_stay),
    "readers see groups as they were": swap(
        Differentiation,
        "groups_at",
        lambda f: lambda self, s, at: s.read("before") if at == "after" else f(self, s, at),
    ),
    "readers miss the rows that groups had": swap(
        Differentiation,
        "groups_at",
        lambda f: lambda self, s, at: f(self, s, "after") if at == "delta" and s.key else f(self, s, at),
    ),
    "readers see rows as they were": swap(
        Differentiation, "bag_at", lambda f: lambda self, s, at: s.read("before") if at == "after" else f(self, s, at)
    ),
    "changes are taken by the innermost first": swap(Differentiation, "program", unsorted),
    "states that read a column which changes are left alone": swap(
        Differentiation, "moved", lambda f: lambda self, s: self.changed - set(self.same)
    ),
    "a state of rows takes nothing": swap(differentiate, "Net", lambda f: lambda r: Net(Filter(r, FALSE))),
    "Δ of UNNEST = ∅": swap(linear, "unary", lambda f: lambda q, d: empty(q) if isinstance(q, Unnest) else f(q, d)),
    "kept rows of touched partitions stay": swap(Differentiation, "partitions", kept_partitions_stay),
    "K is lost at the tables": swap(restriction, "semi", lambda f: lambda r, keys, pairs: r),
    "K does not find NULL": swap(restriction, "same", lambda f: lambda a, b: Call("=", (a, b), TRUE.type)),
}
OF_OTHERS: dict[str, tuple[str, Patch]] = {  # the proof that shows it, and what is made wrong
    "accumulators that should wait are lost": ("split", swap(differentiate, "Append", of_no_rows)),
    "rows that should wait are lost": ("late", swap(differentiate, "Append", of_no_rows)),
    "what was taken waits again, in split": ("split", swap(differentiate, "Clear", nothing_cleared)),
    "what was taken waits again, in late states": ("late", swap(differentiate, "Clear", nothing_cleared)),
    "rows evaluated again are added to those that are kept": (
        "recompute",
        swap(differentiate, "rows_of", lambda f: lambda s: ()),
    ),
    "rows are evaluated again over what was there before": (
        "recompute",
        swap(differentiate, "after", lambda f: keyed.before),
    ),
    "keys that arrive bring no rows": ("partial", swap(differentiate, "arrived", lambda f: left)),
    "keys that leave take no rows along": ("partial", swap(differentiate, "left", lambda f: arrived)),
    "inputs that are not taken are read as they are": ("paces", swap(flush._Flush, "resolve", all_taken)),
    "readers do not hear of what was taken": ("paces", swap(flush, "Append", of_no_rows)),
    "what was taken of an input waits again": ("paces", swap(flush, "Clear", nothing_cleared)),
}
WRONG = {**{name: ("first_order", patch) for name, patch in MUTATIONS.items()}, **OF_OTHERS}


def caught(by: str, patch: Patch, monkeypatch: pytest.MonkeyPatch) -> bool:
    patch(monkeypatch)

    @MANY
    @given(q=queries(more=KINDS), db=databases(), data=st.data())
    def proof(q: Relation, db: Database, data: st.DataObject) -> None:
        PROOFS[by](q, db, data)

    try:
        proof()
    except (AssertionError, CompilerBug):
        return True
    return False


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rule_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert caught(*WRONG[name], monkeypatch), name


def test_all_of_them_are_listed() -> None:
    listed = {line[2:] for line in LISTED.read_text().splitlines() if line.startswith("- ")}
    assert listed >= {f"{by}: {name}" for name, (by, _) in WRONG.items()}
