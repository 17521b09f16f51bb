"""What a warehouse was deployed with: slot, publication, tables, views. A small file beside the data, replaced
whole."""

from __future__ import annotations

import fcntl
import json
import os
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from compiler.catalog import Catalog, Column, Generated, Table
from compiler.errors import TidemarkError
from compiler.ir.types import Field, Type
from connectors.postgres.origin import Origin
from pipelines.kinds import DIST
from pipelines.private import private_folder

FORMAT = 1
FILE = "deployment.json"
RESYNC = "resync"  # the status while tables are copied again: what is kept is not at one LSN


CATALOG = threading.RLock()  # who replaces a deployment's catalog by one that was made of it holds it


@dataclass
class DeployedView:
    name: str
    text: str
    engine: str
    maintenance: str = ""
    reason: dict[str, str] | None = None
    strategy: str = "first_order"
    error: str = ""  # why it was set aside: not maintained until the next deploy


@dataclass(frozen=True)
class ByKey:
    """Of a table the rows alone of the keys that a partial view has: the name of their table, and the columns that are
    the key."""

    view: str
    asked: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Copying:
    """What a copy that is cut short goes on with: `lsn`, where its slot begins; of each table its files (by its quoted
    name), and in how many ranges it is copied."""

    lsn: int
    files: dict[str, list[int]]
    ranges: dict[str, int]


@dataclass
class Deployment:
    """`status` is snapshot while the first copy runs, then live."""

    slot: str
    publication: str
    status: str = "snapshot"
    tables: dict[str, list[str]] = field(default_factory=dict)  # engine → mirrored tables, schema-qualified
    catalog: list[Table] = field(default_factory=list)
    views: list[DeployedView] = field(default_factory=list)
    format: int = FORMAT
    mark: str = ""  # what the engines' data is marked with, so that a stranger's is not taken for ours
    origin: Origin = field(default_factory=Origin)
    former: list[str] = field(default_factory=list)  # names of slots and publications that it took the place of
    refused: dict[str, dict[str, dict[str, str]]] = field(
        default_factory=dict
    )  # engine → table → column, '' for all → why not kept
    columns: dict[str, dict[str, list[str]]] = field(
        default_factory=dict
    )  # engine → table → the columns that its mirror has; of a table that is not named, all
    by_key: dict[str, dict[str, ByKey]] = field(
        default_factory=dict
    )  # engine → table of which the rows of some keys alone are kept → which
    copying: Copying | None = None  # of a first copy that has not ended: how it goes on
    location: str = DIST  # where what is on Spark is kept and maintained
    dist: list[str] = field(default_factory=list)  # where that is LOCAL: the tables whose mirrors are not
    project: str = ""  # the folder whose views these are; '' of one that an older version deployed

    def to_catalog(self) -> Catalog:
        return Catalog({(t.schema, t.name): t for t in self.catalog})

    def table(self, qualified: str) -> Table:
        return next(t for t in self.catalog if f"{t.schema}.{t.name}" == qualified)

    def mirrored(self, engine: str, qualified: str) -> Table:
        """The table with the columns that its mirror has."""
        t, names = self.table(qualified), self.columns.get(engine, {}).get(qualified)
        return t if names is None else replace(t, columns=tuple(c for c in t.columns if c.name in names))


def new_deployment() -> Deployment:
    mark = uuid.uuid4().hex[:10]
    return Deployment(f"tidemark_{mark}", f"tidemark_{mark}", mark=uuid.uuid4().hex)


def load(path: Path) -> Deployment | None:
    """The deployment in a warehouse folder, None when there is none."""
    try:
        data = json.loads((path / FILE).read_text())
    except FileNotFoundError:
        return None
    except ValueError as e:
        raise _unreadable(path, "It is not JSON." if (path / FILE).stat().st_size else "It is empty.") from e
    try:
        return _read(path, data)
    except (KeyError, TypeError, AttributeError) as e:
        raise _unreadable(path, f"{type(e).__name__}: {e}") from e


def _unreadable(path: Path, detail: str) -> TidemarkError:
    return TidemarkError(
        f"{path / FILE} cannot be read",
        code="deployment_unreadable",
        detail=detail,
        hint="Put it back from a copy; or run tidemark teardown --yes, which removes the warehouse, and tidemark "
        "deploy.",
    )


def _read(path: Path, data: dict[str, Any]) -> Deployment:
    if data["format"] > FORMAT:
        raise TidemarkError(
            f"the warehouse {path} was written by a newer Tidemark",
            code="newer_warehouse",
            detail=f"Its format is {data['format']}; this version knows {FORMAT}.",
            hint="Upgrade Tidemark, or deploy into another warehouse.",
        )
    origin = data.get("origin", {})
    return Deployment(
        data["slot"],
        data["publication"],
        data["status"],
        data["tables"],
        [_table(t) for t in data["catalog"]],
        [DeployedView(**v) for v in data["views"]],
        data["format"],
        data.get("mark", ""),
        Origin(**{**origin, "tables": tuple(map(tuple, origin.get("tables", ())))}),
        data.get("former", []),
        data.get("refused", {}),
        data.get("columns", {}),
        {
            e: {t: ByKey(b["view"], b["asked"], tuple(b["columns"])) for t, b in of.items()}
            for e, of in data.get("by_key", {}).items()
        },
        Copying(**data["copying"]) if data.get("copying") else None,
        data.get("location", DIST),
        data.get("dist", []),
        data.get("project", ""),
    )


def require(path: Path) -> Deployment:
    got = load(path)
    if got is not None and got.status == RESYNC:
        raise TidemarkError(
            f"the tables in {path} are being copied again, or that was killed",
            code="resync_unfinished",
            hint="Run: tidemark deploy --resync",
        )
    if got is None or got.status != "live":
        raise TidemarkError(f"nothing is deployed in {path}", hint="Run: tidemark deploy", code="not_deployed")
    return got


def save(path: Path, d: Deployment) -> None:
    private_folder(path)
    temp = path / f".{FILE}.new"
    with open(os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as f:
        json.dump(asdict(d), f, indent=1)
        f.flush()
        os.fsync(f.fileno())
    temp.replace(path / FILE)
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _type(t: dict[str, Any]) -> Type:
    return Type(
        t["name"],
        t["precision"],
        t["scale"],
        _type(t["element"]) if t["element"] else None,
        tuple(t["labels"]),
        fields=tuple(Field(f["name"], _type(f["type"]), f["place"], f["oid"]) for f in t.get("fields", ())),
        ever=t.get("ever", 0),
    )


def _table(t: dict[str, Any]) -> Table:
    columns = tuple(
        Column(
            c["name"],
            _type(c["type"]),
            c["not_null"],
            c["source_type"],
            c.get("place", 0),
            c.get("oid", 0),
            c.get("modifier", -1),
            c.get("altered", 0),
            c.get("called", ""),
            tuple(c.get("former", ())),
            c.get("over", ""),
        )
        for c in t["columns"]
    )
    return Table(
        t["schema"],
        t["name"],
        columns,
        tuple(t["key"]),
        t["identity"],
        tuple(t["identity_key"]),
        tuple(t.get("generated", ())),
        t.get("form", ""),
        t.get("oid", 0),
        t.get("deferrable", False),
        tuple(map(tuple, t.get("files", ()))),
        tuple(map(tuple, t.get("links", ()))),
        tuple(t.get("called", ())),
        tuple(map(tuple, t.get("former", ()))),
        tuple(map(tuple, t.get("gone", ()))),
        tuple(Generated(**g) for g in t.get("expressions", ())),
    )


class WarehouseBusy(TidemarkError):
    exit_code = 3


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """The warehouse, for writing, to this process alone; raises WarehouseBusy."""
    private_folder(path)
    with (path / "lock").open("w") as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as e:
            raise WarehouseBusy(
                f"the warehouse {path} is in use by another tidemark",
                code="warehouse_in_use",
                hint="Wait until it has ended; a pipeline that runs has to be stopped for this.",
            ) from e
        yield


def busy(path: Path) -> bool:
    """Whether a process has the warehouse for writing."""
    try:
        with (path / "lock").open() as f:
            fcntl.flock(f, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
