"""Decoded changes to staged rows: signs, events on keys, truncation, unchanged values, replays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from compiler.catalog import Column, Table
from compiler.ir.types import TEXT
from connectors.changed import TableChanged
from connectors.postgres.pgoutput import Decoder
from connectors.staging import Staged, stage
from tests.connectors.messages import UNCHANGED, delete, insert, relation, transaction, truncate, update

COLUMNS = tuple(Column(n, TEXT) for n in ("id", "a", "b"))
DEFAULT = Table("public", "t", COLUMNS, ("id",), "default", ("id",))
FULL = Table("public", "t", COLUMNS, ("id",), "full", ("id",))
R = relation(1, "t", ["id", "a", "b"], ["id"])


def staged(table: Table, *transactions: list[bytes], after: int = 0) -> list[Staged]:
    decoder = Decoder()
    decoded = decoder.decode([f for t in transactions for f in t])
    return stage({(table.schema, table.name): table}, decoded, decoder.relations, after)


def one(table: Table, *transactions: list[bytes], after: int = 0) -> Staged:
    (s,) = staged(table, *transactions, after=after)
    return s


def listed(s: Staged, *names: str) -> list[tuple[Any, ...]]:
    """Rows in the order of the stream."""
    rows = sorted(s.rows.to_pylist(), key=lambda r: r["_seq"])
    return [tuple(r[n] for n in names) for r in rows]


def test_full_changes_become_signed_rows() -> None:
    s = one(
        FULL,
        transaction(
            10,
            R,
            insert(1, "1", "x", None),
            update(1, ("1", "y", ""), ("1", "x", None)),
            delete(1, ("1", "y", ""), "O"),
        ),
    )
    assert not s.keyed and not s.inserts_only
    rows = sorted((r["_weight"], r["c0"], r["c1"], r["c2"] or "-") for r in s.rows.to_pylist())
    assert rows == sorted([(1, "1", "x", "-"), (-1, "1", "x", "-"), (1, "1", "y", "-"), (-1, "1", "y", "-")])


def test_default_changes_become_events_on_keys() -> None:
    s = one(
        DEFAULT, transaction(10, R, insert(1, "1", "x", "y"), update(1, ("2", "x", "z")), delete(1, ("3", None, None)))
    )
    assert s.keyed
    assert listed(s, "k0", "_present", "c0", "c1", "c2") == [
        ("1", True, "1", "x", "y"),
        ("2", True, "2", "x", "z"),
        ("3", False, None, None, None),
    ]


def test_a_key_change_is_the_end_of_one_key_and_the_start_of_another() -> None:
    s = one(DEFAULT, transaction(10, R, update(1, ("2", "x", "y"), ("1", None, None), "K")))
    assert listed(s, "k0", "_present", "c1") == [("1", False, None), ("2", True, "x")]


def test_several_changes_to_one_key_keep_their_order() -> None:
    s = one(
        DEFAULT,
        transaction(
            10,
            R,
            insert(1, "1", "a", ""),
            delete(1, ("1", None, None)),
            insert(1, "1", "b", ""),
            update(1, ("1", "c", "")),
        ),
    )
    assert listed(s, "_present", "c1") == [(True, "a"), (False, None), (True, "b"), (True, "c")]


def test_inserts_alone_say_so() -> None:
    assert one(DEFAULT, transaction(10, R, insert(1, "1", "a", "b"))).inserts_only
    assert not one(DEFAULT, transaction(10, R, insert(1, "1", "a", "b"), update(1, ("1", "c", "b")))).inserts_only


@pytest.mark.parametrize("table", [DEFAULT, FULL])
def test_changes_below_the_frontier_are_left_out(table: Table) -> None:
    s = one(table, transaction(10, R, insert(1, "1", "a", "b")), transaction(20, insert(1, "2", "a", "b")), after=20)
    assert [r["c0"] for r in s.rows.to_pylist()] == ["2"]


@pytest.mark.parametrize("table", [DEFAULT, FULL])
def test_a_batch_wholly_below_the_frontier_yields_nothing(table: Table) -> None:
    assert (
        staged(
            table,
            transaction(10, R, insert(1, "1", "a", "b"), update(1, ("1", UNCHANGED, "c"), ("1", "a", "b"))),
            after=11,
        )
        == []
    )


@pytest.mark.parametrize("table", [DEFAULT, FULL])
def test_a_truncate_below_the_frontier_yields_nothing(table: Table) -> None:
    assert staged(table, transaction(10, R, truncate(1)), after=11) == []


@pytest.mark.parametrize("table", [DEFAULT, FULL])
def test_a_truncate_takes_the_changes_before_it_along(table: Table) -> None:
    s = one(table, transaction(10, R, insert(1, "1", "a", "b"), truncate(1), insert(1, "2", "a", "b")))
    assert s.truncated
    assert [r["c0"] for r in s.rows.to_pylist()] == ["2"]


@pytest.mark.parametrize("table", [DEFAULT, FULL])
def test_a_truncate_alone_is_staged_without_rows(table: Table) -> None:
    s = one(table, transaction(10, R, truncate(1)))
    assert s.truncated and s.rows.num_rows == 0


def test_tables_that_nobody_mirrors_are_passed_over() -> None:
    other = relation(2, "other", ["id"], ["id"])
    assert staged(DEFAULT, transaction(10, other, insert(2, "1"), truncate(2))) == []


def test_columns_that_nobody_mirrors_are_left_out() -> None:
    wider = relation(1, "t", ["id", "extra", "a", "b"], ["id"])
    s = one(DEFAULT, transaction(10, wider, insert(1, "1", "E", "A", "B")))
    assert listed(s, "k0", "c0", "c1", "c2") == [("1", "1", "A", "B")]


def test_columns_whose_names_changed_places_are_an_error() -> None:
    with pytest.raises(TableChanged, match='columns of table "public.t" were renamed'):
        staged(DEFAULT, transaction(10, relation(1, "t", ["id", "b", "a"], ["id"]), insert(1, "1", "x", "y")))


def test_a_column_of_another_type_is_an_error() -> None:
    known = replace(DEFAULT, columns=tuple(replace(c, oid=25 if c.name == "id" else 23) for c in COLUMNS))
    with pytest.raises(TableChanged, match='column "a" of "public.t" has another type'):
        staged(known, transaction(10, R, insert(1, "1", "x", "y")))


def test_changes_by_another_key_are_an_error() -> None:
    with pytest.raises(TableChanged, match='the replica identity of "public.t" was altered') as e:
        staged(DEFAULT, transaction(10, relation(1, "t", ["id", "a", "b"], ["a"]), delete(1, (None, "x", None))))
    assert "(a), not by (id)" in str(e.value.detail)


@pytest.mark.parametrize("name", ["t", "t_old"])
def test_another_table_of_the_name_or_the_table_by_another_name_is_an_error(name: str) -> None:
    known = replace(DEFAULT, oid=1 if name == "t_old" else 2)
    with pytest.raises(TableChanged, match='"public.t" is not the table that was deployed'):
        staged(known, transaction(10, relation(1, name, ["id", "a", "b"], ["id"]), insert(1, "1", "x", "y")))


def test_a_key_kept_out_of_line_is_taken_from_the_old_image() -> None:
    s = one(DEFAULT, transaction(10, R, update(1, (UNCHANGED, "x", UNCHANGED), ("a long key", None, None), "K")))
    assert [r for r in listed(s, "_present", "k0", "c0", "u2", "f0") if r[0]] == [
        (True, "a long key", "a long key", True, "a long key")
    ]


def test_a_column_that_went_away_is_an_error_that_names_it() -> None:
    with pytest.raises(TableChanged, match='"public.t" no longer has column "b"') as e:
        staged(DEFAULT, transaction(10, relation(1, "t", ["id", "a"], ["id"]), insert(1, "1", "x")))
    assert e.value.hint


def test_full_takes_an_unchanged_value_from_the_old_image() -> None:
    s = one(FULL, transaction(10, R, update(1, ("1", UNCHANGED, "new"), ("1", "a value of many bytes", "old"))))
    assert {(r["_weight"], r["c1"], r["c2"]) for r in s.rows.to_pylist()} == {
        (-1, "a value of many bytes", "old"),
        (1, "a value of many bytes", "new"),
    }


def test_an_unchanged_value_of_the_mirror_names_the_key_to_take_it_from() -> None:
    s = one(DEFAULT, transaction(10, R, update(1, ("1", UNCHANGED, "y"))))
    assert s.unchanged == (1,)
    assert listed(s, "k0", "u1", "f0", "c2") == [("1", True, "1", "y")]


def test_an_unchanged_value_with_a_key_change_comes_from_the_old_key() -> None:
    s = one(DEFAULT, transaction(10, R, update(1, ("2", UNCHANGED, "y"), ("1", None, None), "K")))
    assert [r for r in listed(s, "_present", "k0", "u1", "f0") if r[0]] == [(True, "2", True, "1")]


def test_an_unchanged_value_follows_a_row_through_two_key_changes() -> None:
    s = one(
        DEFAULT,
        transaction(
            10,
            R,
            update(1, ("2", UNCHANGED, "y"), ("1", None, None), "K"),
            update(1, ("3", UNCHANGED, "z"), ("2", None, None), "K"),
        ),
    )
    assert [r for r in listed(s, "k0", "_present", "u1", "f0") if r[0] == "3"] == [("3", True, True, "1")]


def test_an_unchanged_value_written_earlier_in_the_batch_is_taken_from_there() -> None:
    s = one(DEFAULT, transaction(10, R, insert(1, "1", "from the insert", "x"), update(1, ("1", UNCHANGED, "y"))))
    assert listed(s, "c1", "c2", "u1") == [("from the insert", "x", False), ("from the insert", "y", False)]


def test_the_row_a_key_was_reused_for_does_not_lend_its_value() -> None:
    s = one(
        DEFAULT,
        transaction(
            10,
            R,
            update(1, ("2", UNCHANGED, "moved"), ("1", None, None), "K"),
            insert(1, "1", "fresh", "new"),
            update(1, ("1", UNCHANGED, "newer")),
        ),
    )
    last = {
        r["k0"]: (r["c1"], r["u1"], r["f0"])
        for r in sorted(s.rows.to_pylist(), key=lambda r: r["_seq"])
        if r["_present"]
    }
    assert last["2"][1:] == (True, "1")
    assert last["1"][:2] == ("fresh", False)


@pytest.mark.parametrize("table", [DEFAULT, FULL])
def test_what_is_left_of_a_cut_batch_keeps_long_values_and_nulls(table: Table) -> None:
    long = "a value of more than twelve bytes"
    s = one(table, transaction(10, R, insert(1, "1", "x", long)), transaction(20, insert(1, "2", long, None)), after=15)
    (r,) = s.rows.to_pylist()
    assert (r["c0"], r["c1"], r["c2"]) == ("2", long, None)
    assert all(pa.types.is_string_view(s.rows.schema.field(f"c{i}").type) for i in range(3))
