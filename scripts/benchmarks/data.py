"""TPC-H tables from tpchgen-cli, and batches of changes to them as the capture would stage them."""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compiler.catalog import Catalog, Table, read_schema
from compiler.maintain.plan import ViewPlan
from connectors.staging import LSN, MET, PRESENT, SEQ, Staged
from pipelines.refused import to_keep

I64 = npt.NDArray[np.int64]

SCHEMA = """
CREATE TABLE customer (c_custkey bigint PRIMARY KEY, c_name varchar(25), c_address varchar(40), c_nationkey bigint,
  c_phone varchar(15), c_acctbal numeric(15,2), c_mktsegment varchar(10), c_comment varchar(117));
CREATE TABLE part (p_partkey bigint PRIMARY KEY, p_name varchar(55), p_mfgr varchar(25), p_brand varchar(10),
  p_type varchar(25), p_size integer, p_container varchar(10), p_retailprice numeric(15,2), p_comment varchar(23));
CREATE TABLE orders (o_orderkey bigint PRIMARY KEY, o_custkey bigint, o_orderstatus varchar(1),
  o_totalprice numeric(15,2), o_orderdate date, o_orderpriority varchar(15), o_clerk varchar(15),
  o_shippriority integer, o_comment varchar(79));
CREATE TABLE lineitem (l_orderkey bigint, l_partkey bigint, l_suppkey bigint, l_linenumber integer,
  l_quantity numeric(15,2), l_extendedprice numeric(15,2), l_discount numeric(15,2), l_tax numeric(15,2),
  l_returnflag varchar(1), l_linestatus varchar(1), l_shipdate date, l_commitdate date, l_receiptdate date,
  l_shipinstruct varchar(25), l_shipmode varchar(10), l_comment varchar(44), PRIMARY KEY (l_orderkey, l_linenumber));
"""
TABLES = ("customer", "part", "orders", "lineitem")
KINDS = ("update", "insert", "delete")
SHARES = (0.6, 0.2, 0.2)
LINEITEM_SHARE = 0.8  # lineitem has four rows for each of orders
NEW_LINE = 8  # TPC-H numbers the lines of an order from 1 to 7
PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")


@functools.cache
def catalog() -> Catalog:
    return read_schema(SCHEMA)


def tables(plans: Iterable[ViewPlan]) -> dict[str, Table]:
    """The tables by name, with the columns that their mirrors have where these views are deployed."""
    return mirrored([catalog().tables[("public", name)] for name in TABLES], list(plans))


def mirrored(every: Iterable[Table], plans: Sequence[ViewPlan]) -> dict[str, Table]:
    """Of tables, by name, what is kept of them for some views."""
    return {
        t.name: replace(t, columns=tuple(c for c in t.columns if c.name in names))
        for t, names in ((t, {*to_keep(t, plans)}) for t in every)
    }


def generate(folder: Path, scale: float, tables: tuple[str, ...] = TABLES) -> Path:
    """Parquet files of the tables at `scale`, made once; gives their folder."""
    target = folder / f"tpch-{scale:g}"
    if all((target / f"{t}.parquet").exists() for t in tables):
        return target
    target.mkdir(parents=True, exist_ok=True)
    beside = Path(sys.executable).with_name("tpchgen-cli")
    command = str(beside) if beside.exists() else shutil.which("tpchgen-cli")
    if command is None:
        raise SystemExit("tpchgen-cli is missing: pip install tpchgen-cli")
    subprocess.run(
        [command, "parquet", "-s", f"{scale:g}", "-q", "--overwrite", "-T", ",".join(tables), "-o", str(target)],
        check=True,
    )
    return target


def text_batches(folder: Path, t: Table) -> Iterator[pa.Table]:
    """A table's rows as text columns c0…, as the first copy delivers them."""
    columns = [c.name for c in t.columns]
    for batch in pq.ParquetFile(folder / f"{t.name}.parquet").iter_batches(500_000, columns=columns):
        yield pa.table({f"c{i}": a.cast(pa.string()) for i, a in enumerate(batch.columns)})


@dataclass
class Live:
    """The keys a table has now, column by column, and for each the generated row its other values are copied from."""

    table: Table
    rows: pa.Table
    keys: list[I64]
    origin: I64

    @classmethod
    def read(cls, folder: Path, t: Table) -> Live:
        rows = pq.read_table(folder / f"{t.name}.parquet", columns=[c.name for c in t.columns])
        plain = [pa.field(f.name, pa.string() if pa.types.is_string_view(f.type) else f.type) for f in rows.schema]
        rows = rows.cast(pa.schema(plain)).combine_chunks()
        return cls(t, rows, [rows[k].to_numpy().astype(np.int64) for k in t.key], np.arange(rows.num_rows))

    def __len__(self) -> int:
        return len(self.origin)

    def remove(self, at: I64) -> None:
        self.keys = [np.delete(k, at) for k in self.keys]
        self.origin = np.delete(self.origin, at)

    def add(self, keys: list[I64], origin: I64) -> None:
        self.keys = [np.concatenate((a, b)) for a, b in zip(self.keys, keys)]
        self.origin = np.concatenate((self.origin, origin))


class Workload:
    """Batches of 60 % updates, 20 % inserts and 20 % deletes on uniformly random keys of orders and lineitem.

    An update draws new measures and flags, and in one case of ten another customer or part, so that rows change groups.
    Lines are not deleted with their order: each change stands alone, as a batch of n rows has n of them. `shares` are
    others of updates, inserts and deletes.
    """

    def __init__(
        self, folder: Path, tables: Mapping[str, Table], seed: int = 1, shares: tuple[float, ...] = SHARES
    ) -> None:
        self.random, self.shares = np.random.default_rng(seed), shares
        self.orders, self.lines = Live.read(folder, tables["orders"]), Live.read(folder, tables["lineitem"])
        self.next_order = int(self.orders.keys[0].max()) + 1
        self.next_line = NEW_LINE
        self.customers = pq.ParquetFile(folder / "customer.parquet").metadata.num_rows
        self.parts = pq.ParquetFile(folder / "part.parquet").metadata.num_rows

    def batch(self, n: int, lsn: int) -> list[Staged]:
        """n changes, each to another row, that commit at `lsn`."""
        on_lines = int(self.random.binomial(n, LINEITEM_SHARE))
        out = [self._changes(self.orders, n - on_lines, lsn), self._changes(self.lines, on_lines, lsn)]
        return [s for s in out if s is not None]

    def _changes(self, live: Live, n: int, lsn: int) -> Staged | None:
        if n == 0:
            return None
        updates, inserts, deletes = (int(x) for x in self.random.multinomial(n, self.shares))
        picked = self.random.choice(len(live), size=updates + deletes, replace=False)
        up, gone = picked[:updates], picked[updates:]
        old_keys = [k[gone] for k in live.keys]
        new_keys = self._new_keys(live, inserts)
        origin = np.concatenate((live.origin[up], self.random.integers(live.rows.num_rows, size=inserts)))
        keys = [np.concatenate((k[up], new)) for k, new in zip(live.keys, new_keys)]
        values = self._values(live, keys, origin)
        live.remove(gone)
        live.add(new_keys, origin[updates:])
        fresh = np.arange(n) - updates  # those from 0 on are new, before those that are gone
        met = (fresh < 0) | (fresh >= inserts)
        return _staged(live.table, values, keys, old_keys, lsn, self.random.permutation(n), met)

    def _new_keys(self, live: Live, n: int) -> list[I64]:
        if live is self.orders:
            self.next_order += n
            return [np.arange(self.next_order - n, self.next_order)]
        self.next_line += n
        return [self.random.choice(self.orders.keys[0], size=n), np.arange(self.next_line - n, self.next_line)]

    def _values(self, live: Live, keys: list[I64], origin: I64) -> dict[str, pa.Array]:
        """Text of each column, by name."""
        n, taken = len(origin), live.rows.take(pa.array(origin))
        values = {name: text(taken[name].combine_chunks()) for name in taken.column_names}
        changed = self._of_orders(n) if live is self.orders else self._of_lines(n)
        name, upper = ("o_custkey", self.customers) if live is self.orders else ("l_partkey", self.parts)
        moved, others = pa.array(self.random.random(n) < 0.1), text(pa.array(self.random.integers(1, upper + 1, n)))
        if name in values:
            changed[name] = pc.if_else(moved, others, values[name])
        return {**values, **changed, **{k: text(pa.array(v)) for k, v in zip(live.table.key, keys)}}

    def _of_orders(self, n: int) -> dict[str, pa.Array]:
        return {
            "o_totalprice": self._money(n, 500_000),
            "o_orderstatus": self._one_of(n, ("F", "O", "P")),
            "o_orderpriority": self._one_of(n, PRIORITIES),
        }

    def _of_lines(self, n: int) -> dict[str, pa.Array]:
        return {
            "l_quantity": text(pa.array(self.random.integers(1, 51, n))),
            "l_extendedprice": self._money(n, 100_000),
            "l_returnflag": self._one_of(n, ("A", "N", "R")),
            "l_linestatus": self._one_of(n, ("F", "O")),
        }

    def _money(self, n: int, upper: int) -> pa.Array:
        return text(pa.array(np.round(self.random.uniform(900, upper, n), 2)))

    def _one_of(self, n: int, words: tuple[str, ...]) -> pa.Array:
        return pa.array(np.array(words)[self.random.integers(len(words), size=n)])


def text(a: pa.Array) -> pa.Array:
    return a.cast(pa.string())


def _staged(
    t: Table, values: dict[str, pa.Array], keys: list[I64], old_keys: list[I64], lsn: int, seq: I64, met: np.ndarray
) -> Staged:
    """Events on keys: the first are rows as they are now, the others are gone; `met` says which were there before."""
    here, gone = len(keys[0]), len(old_keys[0])
    cols: dict[str, pa.Array] = {
        SEQ: pa.array(seq * 2 + (np.arange(here + gone) < here)),
        LSN: pa.array(np.full(here + gone, lsn)),
        PRESENT: pa.array(np.arange(here + gone) < here),
        MET: pa.array(met),
    }
    for i, (a, b) in enumerate(zip(keys, old_keys)):
        cols[f"k{i}"] = text(pa.array(np.concatenate((a, b)))).cast(pa.string_view())
    for i, c in enumerate(t.columns):
        cols[f"c{i}"] = pa.concat_arrays([values[c.name], pa.nulls(gone, pa.string())]).cast(pa.string_view())
    return Staged(t, pa.table(cols), True, False, not met.any())
