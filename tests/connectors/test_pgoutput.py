"""Messages of the replication protocol to columns: no server, bytes written by hand."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest

from connectors.postgres import pgoutput
from connectors.postgres.pgoutput import Changes, Decoded, Decoder, Op, Tuples
from tests.connectors.messages import UNCHANGED, delete, insert, relation, transaction, truncate, update

T = relation(1, "t", ["id", "a", "b"], ["id"])
U = relation(2, "u", ["id"], ["id"])


def decode(*transactions: list[bytes]) -> Decoded:
    return Decoder().decode([f for t in transactions for f in t])


def rows(t: Tuples | None) -> list[tuple[str | None, ...]]:
    assert t is not None
    for c in t.columns:
        c.validate(full=True)
    return list(zip(*(c.to_pylist() for c in t.columns), strict=True))


def only(d: Decoded, oid: int = 1) -> Changes:
    (c,) = d.changes[oid]
    return c


def test_nothing_decodes_to_nothing() -> None:
    d = Decoder().decode([])
    assert (d.changes, d.truncated, d.transactions, d.rows) == ({}, {}, 0, 0)


def test_a_transaction_without_changes_is_still_counted() -> None:
    d = decode(transaction(10))
    assert (d.transactions, d.rows, d.changes) == (1, 0, {})


def test_an_insert_has_a_new_tuple_only() -> None:
    c = only(decode(transaction(10, T, insert(1, "1", "x", "y"))))
    assert (c.op, c.old) == (Op.INSERT, None)
    assert rows(c.new) == [("1", "x", "y")]


def test_null_and_the_empty_string_are_told_apart() -> None:
    c = only(decode(transaction(10, T, insert(1, "1", "", None), insert(1, "2", None, ""))))
    assert rows(c.new) == [("1", "", None), ("2", None, "")]


@pytest.mark.parametrize("size", [1, 4, 11, 12, 13, 14, 255, 256, 70_000])
def test_values_around_the_inline_length_of_a_string_view_survive(size: int) -> None:
    value = ("abcdefghijklmnopqrstuvwxyz" * (size // 26 + 1))[:size]
    c = only(decode(transaction(10, T, insert(1, "1", value, "z"), insert(1, "2", "s", value))))
    assert rows(c.new) == [("1", value, "z"), ("2", "s", value)]


def test_multibyte_characters_across_the_inline_length_survive() -> None:
    values = ["日本語文", "日本語文x", "ååååååå", "😀😀😀", "😀😀😀😀"]
    c = only(decode(transaction(10, T, *(insert(1, str(i), v, v) for i, v in enumerate(values)))))
    assert rows(c.new) == [(str(i), v, v) for i, v in enumerate(values)]


def test_an_update_without_an_old_tuple() -> None:
    c = only(decode(transaction(10, T, update(1, ("1", "x", "y")))))
    assert (c.op, c.old, c.old_is_key) == (Op.UPDATE, None, False)
    assert rows(c.new) == [("1", "x", "y")]


def test_an_update_of_the_key_brings_the_old_key() -> None:
    c = only(decode(transaction(10, T, update(1, ("2", "x", None), ("1", None, None), "K"))))
    assert (c.op, c.old_is_key) == (Op.UPDATE, True)
    assert rows(c.old) == [("1", None, None)]
    assert rows(c.new) == [("2", "x", None)]


def test_an_update_with_a_full_old_tuple() -> None:
    c = only(decode(transaction(10, T, update(1, ("1", "a longer value than twelve", "y"), ("1", "", None), "O"))))
    assert not c.old_is_key
    assert rows(c.old) == [("1", "", None)]
    assert rows(c.new) == [("1", "a longer value than twelve", "y")]


def test_updates_of_all_three_shapes_in_one_transaction() -> None:
    d = decode(
        transaction(
            10,
            T,
            update(1, ("1", "a", "a")),
            update(1, ("2", "b", "b"), ("9", None, None), "K"),
            update(1, ("3", "c", "c"), ("3", "", "c"), "O"),
            update(1, ("4", "d", "d")),
        )
    )
    got = {
        ("none" if c.old is None else "key" if c.old_is_key else "full"): (rows(c.new), c.seq.tolist())
        for c in d.changes[1]
    }
    assert got == {
        "none": ([("1", "a", "a"), ("4", "d", "d")], [2, 5]),
        "key": ([("2", "b", "b")], [3]),
        "full": ([("3", "c", "c")], [4]),
    }


@pytest.mark.parametrize(("tag", "old"), [("K", ("1", None, None)), ("O", ("1", "x", ""))])
def test_a_delete_has_an_old_tuple_only(tag: str, old: tuple[str | None, ...]) -> None:
    c = only(decode(transaction(10, T, delete(1, old, tag))))
    assert (c.op, c.new, c.old_is_key) == (Op.DELETE, None, tag == "K")
    assert rows(c.old) == [old]


def test_unchanged_toast_values_are_flagged_and_not_null_values() -> None:
    c = only(
        decode(
            transaction(
                10, T, update(1, ("1", UNCHANGED, "y")), update(1, ("2", None, UNCHANGED)), update(1, ("3", "x", "z"))
            )
        )
    )
    assert c.new is not None
    assert rows(c.new) == [("1", None, "y"), ("2", None, None), ("3", "x", "z")]
    assert [u.tolist() if u is not None else None for u in c.new.unchanged] == [
        None,
        [True, False, False],
        [False, True, False],
    ]


def test_the_bytes_after_an_unchanged_value_are_read_at_the_right_place() -> None:
    c = only(
        decode(transaction(10, T, update(1, ("1", UNCHANGED, "after the gap"), ("1", "a long old value", ""), "O")))
    )
    assert rows(c.old) == [("1", "a long old value", "")]
    assert rows(c.new) == [("1", None, "after the gap")]


def test_interleaved_relations_keep_their_own_columns_and_order() -> None:
    d = decode(
        transaction(
            10,
            T,
            U,
            insert(1, "1", "a", "b"),
            insert(2, "7"),
            insert(1, "2", "c", "d"),
            delete(2, ("7",)),
            insert(2, "8"),
        )
    )
    assert rows(only(d).new) == [("1", "a", "b"), ("2", "c", "d")]
    inserted, deleted = d.changes[2]
    assert (rows(inserted.new), inserted.seq.tolist()) == ([("7",), ("8",)], [4, 7])
    assert (rows(deleted.old), deleted.seq.tolist()) == ([("7",)], [6])
    assert d.rows == 5


def test_changes_carry_the_commit_lsn_of_their_own_transaction() -> None:
    big = (0x16 << 32) + 5
    d = decode(
        transaction(10, T, insert(1, "1", "a", "b")),
        transaction(big, insert(1, "2", "a", "b"), insert(1, "3", "a", "b")),
    )
    assert only(d).lsn.tolist() == [10, big, big]
    assert d.transactions == 2


def test_a_relation_message_is_remembered_for_later_batches() -> None:
    decoder = Decoder()
    decoder.decode(transaction(10, T))
    d = decoder.decode(transaction(20, insert(1, "1", "a", "b")))
    assert rows(only(d).new) == [("1", "a", "b")]


def test_a_relation_message_tells_names_identity_and_keys() -> None:
    decoder = Decoder()
    decoder.decode(transaction(10, relation(5, 'Söme "table"', ["id", "Größe"], ["id"], "f", "my schema")))
    r = decoder.relations[5]
    assert (r.schema, r.name, r.identity, r.columns, r.keys) == (
        "my schema",
        'Söme "table"',
        "f",
        ("id", "Größe"),
        (True, False),
    )


def test_a_truncate_names_its_relations_and_its_place() -> None:
    d = decode(transaction(10, T, U, insert(1, "1", "a", "b"), truncate(1, 2), insert(1, "2", "a", "b")))
    assert d.truncated == {1: (4, 10), 2: (4, 10)}
    assert only(d).seq.tolist() == [3, 5]


def test_the_last_of_several_truncates_counts() -> None:
    d = decode(transaction(10, T, truncate(1), insert(1, "1", "a", "b")), transaction(20, truncate(1)))
    assert d.truncated == {1: (6, 20)}


def test_rows_before_an_added_column_are_read_with_the_columns_they_were_written_with() -> None:
    wider = relation(1, "t", ["id", "a", "b", "c"], ["id"])
    d = decode(transaction(10, T, insert(1, "1", "x", "y")), transaction(20, wider, insert(1, "2", "x", "y", "z")))
    got = {r[0]: r[1:] for c in d.changes[1] for r in rows(c.new)}
    assert got["1"][:2] == ("x", "y")
    assert all(v is None for v in got["1"][2:])
    assert got["2"] == ("x", "y", "z")


def test_an_update_before_an_added_column_keeps_its_new_tuple() -> None:
    wider = relation(1, "t", ["id", "a", "b", "c"], ["id"])
    d = decode(
        transaction(10, T, update(1, ("1", "new", "y"), ("1", "old", "y"), "O")),
        transaction(20, wider, insert(1, "2", "x", "y", "z")),
    )
    (c,) = [c for c in d.changes[1] if c.op is Op.UPDATE]
    assert [r[:3] for r in rows(c.old)] == [("1", "old", "y")]
    assert [r[:3] for r in rows(c.new)] == [("1", "new", "y")]


def test_a_table_without_columns() -> None:
    d = decode(transaction(10, relation(3, "empty", [], []), insert(3), insert(3)))
    assert d.rows == 2


def test_values_beyond_the_reach_of_one_buffer_are_read_by_every_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgoutput, "REACH", 64)
    sent = [(str(i), f"a value of some length {i} " * 2, "short") for i in range(200)]
    (c,) = decode(transaction(10, T, *(insert(1, *r) for r in sent))).changes[1]
    assert rows(c.new) == sent
    assert c.new is not None
    assert duckdb.from_arrow(pa.table({n: a for n, a in zip("abc", c.new.columns, strict=True)})).fetchall() == sent
    assert c.new.columns[1].cast(pa.large_string()).to_pylist() == [b for _, b, _ in sent]
