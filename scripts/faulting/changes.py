"""What one transaction changes: several tables, savepoints, keys, values out of line, and money that is only moved."""

from __future__ import annotations

import random
from typing import Any

import psycopg

from faulting.schema import ACCOUNTS

Params = tuple[Any, ...]
MOST_COLUMNS = 1_000  # that a table has had: Postgres ends at 1,600
NAMES = {"price": "cost", "amount": "money", "tag": "label_of"}  # of what views read, and their other ones
COLUMNS = {"price": "item", "amount": "account_b"}


class Changes:
    """Random changes; `rows` counts the rows that the transaction keeps. `names`: how what views read is called by
    now, which changes where `renaming` is set."""

    def __init__(self, chance: random.Random) -> None:
        self.random, self.rows, self.altered = chance, 0, 0
        self.names, self.renaming = {n: n for n in NAMES}, False

    def transaction(self, c: psycopg.Connection, number: int) -> None:
        r = self.random
        self._do(c, "UPDATE mark SET n = %s WHERE id = 1", (number,))
        self._transfer(c)
        for _ in range(r.choice([1, 1, 2, 4, 25])):
            if r.random() < 0.1:
                kept, names = self.rows, dict(self.names)
                with c.transaction(force_rollback=r.random() < 0.6) as savepoint:
                    self._change(c)
                    self._change(c)
                if savepoint.force_rollback:
                    self.rows, self.names = kept, names
            else:
                self._change(c)

    def look(self, c: psycopg.Connection) -> None:
        """What the source calls everything, which after a lost connection nobody knows."""
        found = c.execute(
            "SELECT attname::text FROM pg_attribute WHERE attrelid IN ('item'::regclass, 'account_b'::regclass) "
            "UNION SELECT relname::text FROM pg_class WHERE relname IN ('tag', 'label_of')"
        ).fetchall()
        there = {str(r[0]) for r in found}
        self.names = {n: n if n in there else other for n, other in NAMES.items()}

    def names_back(self, c: psycopg.Connection) -> None:
        """Everything is called as it was."""
        for n in NAMES:
            if self.names[n] != n:
                self._rename_one(c, n)

    def _rename(self, c: psycopg.Connection) -> None:
        self._rename_one(c, self.random.choice([*NAMES]))

    def _rename_one(self, c: psycopg.Connection, name: str) -> None:
        now = self.names[name]
        to = NAMES[name] if now == name else name
        what = f"{COLUMNS[name]} RENAME {now}" if name in COLUMNS else f"{now} RENAME"
        self._do(c, f"ALTER TABLE {what} TO {to}")
        self.names[name] = to

    def _do(self, c: psycopg.Connection, statement: str, params: Params = ()) -> None:
        self.rows += max(c.execute(statement.format_map(self.names).encode(), params).rowcount, 0)

    def _transfer(self, c: psycopg.Connection) -> None:
        r = self.random
        amount = r.randint(-300, 300)
        self._do(c, "UPDATE account_a SET amount = amount - %s WHERE id = %s", (amount, r.randint(1, ACCOUNTS)))
        if r.random() < 0.5:
            self._change(c)
        self._do(c, "UPDATE account_b SET {amount} = {amount} + %s WHERE id = %s", (amount, r.randint(1, ACCOUNTS)))

    def _change(self, c: psycopg.Connection) -> None:
        kinds = (
            self._insert,
            self._update,
            self._rekey,
            self._delete,
            self._note,
            self._part,
            self._tag,
            self._later,
            self._book,
            self._rare,
            self.many,
            self._alter,
            self._rename,
        )
        weights = (20, 22, 6, 16, 6, 16, 10, 4, 20, 0.6, 0.2, 0.6, 0.6 if self.renaming else 0)
        self.random.choices(kinds, weights)[0](c)

    def _insert(self, c: psycopg.Connection) -> None:
        r = self.random
        i = r.randint(1, 400)
        note = f"{r.getrandbits(64):016x}" * r.choice([1, 200]) if r.random() < 0.2 else None
        self._do(
            c,
            "INSERT INTO item VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
            (
                i,
                r.choice([None, *range(7)]),
                r.choice([None, "", "Ünï 😀", f"new {i}"]),
                r.choice([None, r.randint(-(10**6), 10**9) / 100]),
                r.choice([None, "0044-03-15", f"20{r.randint(10, 99)}-02-28"]),
                note,
            ),
        )

    def _update(self, c: psycopg.Connection) -> None:
        r = self.random
        if r.random() < 0.5:  # values out of line are not sent
            self._do(
                c,
                "UPDATE item SET {price} = {price} + 1.01, kind = %s WHERE id = %s",
                (r.choice([None, *range(7)]), r.randint(1, 400)),
            )
        else:
            self._do(
                c,
                "UPDATE item SET name = name || 'x', since = since + 1 "
                "WHERE id BETWEEN %s AND %s AND length(name) < 30",
                (i := r.randint(1, 400), i + 4),
            )

    def _rekey(self, c: psycopg.Connection) -> None:
        """Key changes, also of rows with values out of line, and onto a key that was just freed."""
        i, j = self.random.randint(1, 400), self.random.randint(1, 400)
        if self.random.random() < 0.5:
            self._do(c, "DELETE FROM item WHERE id = %s", (j,))
        self._do(c, "UPDATE item SET id = %s WHERE id = %s AND NOT EXISTS (SELECT FROM item WHERE id = %s)", (j, i, j))

    def _delete(self, c: psycopg.Connection) -> None:
        r = self.random
        table = r.choice(["item", "part", "part"])
        self._do(c, f"DELETE FROM {table} WHERE id IN (%s, %s)", (r.randint(1, 400), r.randint(1, 400)))

    def _note(self, c: psycopg.Connection) -> None:
        r = self.random
        note = r.choice([None, "short", f"{r.getrandbits(64):016x}" * 180])
        self._do(c, "UPDATE item SET note = %s WHERE id = %s", (note, r.randint(1, 400)))

    def _book(self, c: psycopg.Connection) -> None:
        """Rows that go from one to another, also with values that are not sent."""
        r = self.random
        book, shelf = r.randint(1, 420), r.randint(1, 210)
        what = r.random()
        if what < 0.5:
            self._do(c, "UPDATE book SET shelf = %s WHERE id = %s", (shelf, book))
        elif what < 0.7:
            content = f"{r.getrandbits(64):016x}" * r.choice([1, 200])
            self._do(c, "INSERT INTO book VALUES (%s, %s, 1, %s) ON CONFLICT DO NOTHING", (book, shelf, content))
        elif what < 0.9:
            self._do(c, "DELETE FROM book WHERE id = %s", (book,))
        else:
            self._do(c, "UPDATE shelf SET title = title || '.' WHERE id = %s AND length(title) < 30", (shelf,))

    def _part(self, c: psycopg.Connection) -> None:
        r = self.random
        self._do(
            c,
            "INSERT INTO part VALUES (%s, %s, %s) "
            "ON CONFLICT (id) DO UPDATE SET item = excluded.item, qty = part.qty + 1",
            (r.randint(1, 400), r.choice([None, r.randint(1, 420)]), r.randint(0, 9)),
        )

    def _tag(self, c: psycopg.Connection) -> None:
        r = self.random
        label, kind = r.choice([None, *(f"t{i}" for i in range(6))]), r.random()
        if kind < 0.5:
            self._do(c, "INSERT INTO {tag} VALUES (%s, %s), (%s, NULL)", (label, r.randint(0, 3), label))
        elif kind < 0.75:
            self._do(
                c,
                "UPDATE {tag} SET n = coalesce(n, 0) + 1 WHERE label IS NOT DISTINCT FROM %s AND n IS DISTINCT FROM 3",
                (label,),
            )
        else:
            self._do(
                c,
                "DELETE FROM {tag} WHERE ctid = (SELECT min(ctid) FROM {tag} WHERE label IS NOT DISTINCT FROM %s)",
                (label,),
            )

    def _later(self, c: psycopg.Connection) -> None:
        r = self.random
        self._do(
            c,
            "INSERT INTO later VALUES (%s, %s, 'n') ON CONFLICT (id) DO UPDATE SET v = excluded.v",
            (r.randint(1, 300), r.randint(0, 5)),
        )

    def _rare(self, c: psycopg.Connection) -> None:
        self._do(
            c,
            self.random.choice(
                ["TRUNCATE {tag}", "TRUNCATE part", "TRUNCATE {tag}, part", "DELETE FROM item WHERE id %% 2 = 0"]
            ),
        )

    def _alter(self, c: psycopg.Connection) -> None:
        """Columns that no view reads come, go and get other names, in the middle of what changes rows."""
        r = self.random
        table = r.choice(["item", "part", "account_a"])
        found = c.execute(
            "SELECT coalesce(array_agg(attname::text) FILTER (WHERE attname LIKE 'spare%%' AND NOT attisdropped), "
            "'{}'), max(attnum) FROM pg_attribute WHERE attrelid = %s::regclass",
            (table,),
        ).fetchone()
        assert found is not None
        there, used = found
        self.altered += 1
        name, kind = f"spare_{self.altered}", r.choice(["int DEFAULT 7", "text DEFAULT 'x'", "numeric", "date"])
        if used < MOST_COLUMNS and len(there) < r.randint(1, 3):
            what = f"ADD {name} {kind}"
        elif there:
            what = r.choice([f"DROP {r.choice(there)}", f"RENAME {r.choice(there)} TO {name}"])
        else:
            return
        self._do(c, f"ALTER TABLE {table} {what}")

    def many(self, c: psycopg.Connection) -> None:
        """More rows than a batch has, all over the tables; some of them are changed again in the same transaction."""
        r = self.random
        for _ in range(r.choice([1, 1, 2])):
            self._do(c, "UPDATE part SET qty = (qty + 1) %% 10, item = CASE WHEN qty = 3 THEN id ELSE item END")
            self._do(
                c,
                "UPDATE item SET {price} = {price} + 0.07, kind = (kind + 1) %% 7 WHERE id < 1000 AND id %% 9 <> %s",
                (r.randint(0, 8),),
            )
            self._do(c, "DELETE FROM {tag} WHERE n = %s", (r.randint(0, 3),))
            self._do(
                c, "INSERT INTO {tag} SELECT 't' || g %% 6, g %% 4 FROM generate_series(1, %s) g", (r.randint(20, 600),)
            )
        self._do(c, "UPDATE later SET v = (v + 1) %% 6")
