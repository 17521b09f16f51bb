"""tidemark.toml: read strictly, so that a misspelt key is an error and not a default."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from compiler.declared import is_declared
from compiler.errors import TidemarkError
from compiler.maintain.choose import AUTO
from compiler.maintain.strategy import PLAIN
from pipelines import kinds
from pipelines.observe.address import parse_address


class ConfigError(TidemarkError):
    exit_code = 2


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Source(_Section):
    """`capture`: who reads the slot, Tidemark itself or Debezium. `events`: where a connector elsewhere writes its
    events, kafka://broker,… or file:///folder; empty, Debezium's engine runs in this process. `kafka`: what its client
    is told, as librdkafka calls it. `types`: by [schema.]table.column, how numerics are kept that no engine has a
    number for: text, or numeric(p, s). `copy_rate`: bytes a second of rows that are read while tables are copied;
    empty, as many as come."""

    dsn: str
    capture: Literal["stream", "debezium"] = "stream"
    events: str = ""
    kafka: dict[str, str] = Field(default_factory=dict)
    types: dict[str, str] = Field(default_factory=dict)
    copy_rate: str = ""
    timeout: float = Field(default=30.0, ge=1)  # seconds of silence after which the stream is dropped and opened again

    @field_validator("types")
    @classmethod
    def _declared(cls, types: dict[str, str]) -> dict[str, str]:
        for name, text in types.items():
            if not is_declared(text):
                raise ValueError(f"{name} can be kept as 'text' or 'numeric(p, s)' of up to 38 digits, not as '{text}'")
        return types

    @field_validator("copy_rate")
    @classmethod
    def _rate(cls, text: str) -> str:
        if text and not parse_size(text):
            raise ValueError("a copy_rate of 0 copies nothing; leave it out for as fast as it goes")
        return text

    @property
    def copy_bytes(self) -> int:
        return parse_size(self.copy_rate) if self.copy_rate else 0

    def held(self, frontier: int | None) -> int | None:
        """What the slot must not be past: a connector elsewhere moves it, once its events are written."""
        return None if self.events else frontier

    @field_validator("events")
    @classmethod
    def _place(cls, text: str) -> str:
        if text and not re.fullmatch(r"kafka://[\w.:,-]+|file:///[^?#]*", text):
            raise ValueError("events are at kafka://host:port[,host:port] or in a folder, file:///path")
        return text

    @model_validator(mode="after")
    def _of_debezium(self) -> Self:
        if self.events and self.capture != "debezium":
            raise ValueError('events are Debezium\'s: they need capture = "debezium"')
        if self.kafka and not self.events.startswith("kafka:"):
            raise ValueError('[source.kafka] is for events = "kafka://…"')
        return self


class Defaults(_Section):
    engine: str = kinds.AUTO
    strategy: str = AUTO

    @field_validator("engine")
    @classmethod
    def _there(cls, name: str) -> str:
        if name not in (kinds.AUTO, *kinds.KINDS):
            raise ValueError(f"the engines are {', '.join((kinds.AUTO, *kinds.KINDS))}")
        return name

    @field_validator("strategy")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in (AUTO, *PLAIN):
            raise ValueError(f"the strategies are {', '.join((AUTO, *PLAIN))}")
        return name


class Warehouse(_Section):
    path: str = "warehouse"


class Batch(_Section):
    """When a batch closes: rows, bytes, or seconds since its first change (longer where batches take long to apply:
    `capture`). `memory`: how much of it changes may take that are being received; what is more waits in a file."""

    rows: int = Field(default=200_000, gt=0)
    bytes: int = Field(default=128 << 20, gt=0)
    seconds: float = Field(default=0.02, ge=0)
    memory: str = "256MB"

    @field_validator("memory")
    @classmethod
    def _size(cls, text: str) -> str:
        parse_size(text)
        return text

    @property
    def memory_bytes(self) -> int:
        return parse_size(self.memory)


class DuckDB(_Section):
    """`index_memory`: how much of the machine's memory the indexes of mirrors may take; empty, a quarter of it.
    `index_rows`: mirrors with fewer rows are read whole."""

    index_memory: str = ""
    index_rows: int = Field(default=500_000, ge=0)

    @field_validator("index_memory")
    @classmethod
    def _size(cls, text: str) -> str:
        if text:
            parse_size(text)
        return text

    @property
    def index_bytes(self) -> int | None:
        return parse_size(self.index_memory) if self.index_memory else None


def parse_size(text: str) -> int:
    """Bytes that a size says: '4GB', '512 MB', '0'."""
    m = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.I)
    if m is None:
        raise ValueError(f"'{text}' is no size; write it as '4GB' or '512MB'")
    return int(float(m[1]) * 1024 ** " KMGT".index(m[2].upper() or " "))


FILE = "tidemark.toml"  # in the folder of a project
NONE = "none"
STORES = ("s3a://", "s3://", "file://")


class Spark(_Section):
    """`local_memory`: tables on Spark that are no larger together are kept by the driver (Local), and as much of
    states; '0': none are, and the driver has what changes alone; 'none': not even that. `copies`: where views are
    copied to, 's3a://bucket/folder'."""

    master: str = "local[*]"
    jars: str = ""
    settings: dict[str, str] = Field(default_factory=dict)
    local_memory: str = "2GB"
    threshold_rows: int | None = Field(default=None, gt=0)  # auto: of a table that goes to Spark, whatever it costs
    copies: str = ""

    @field_validator("copies")
    @classmethod
    def _store(cls, text: str) -> str:
        if text and not text.startswith(STORES):
            raise ValueError(f"{text} begins with none of {', '.join(STORES)}")
        return text

    @model_validator(mode="after")
    def _copied(self) -> Spark:
        if self.copies and self.alone:
            raise ValueError("views are copied by the driver, which has none with local_memory = 'none'")
        return self

    @field_validator("local_memory")
    @classmethod
    def _size(cls, text: str) -> str:
        if text != NONE:
            parse_size(text)
        return text

    @property
    def alone(self) -> bool:
        """Whether executors keep and maintain all there is."""
        return self.local_memory == NONE

    @property
    def local_bytes(self) -> int:
        return 0 if self.alone else parse_size(self.local_memory)


class Metrics(_Section):
    """Where `run` answers /metrics, /healthz and /readyz; `listen` empty: nowhere."""

    listen: str = ""
    healthy_seconds: float = Field(
        default=300.0, gt=0
    )  # /healthz: the loop turns at least that often, also with its longest batch
    ready_seconds: float = Field(default=60.0, gt=0)  # /readyz: no view is staler

    @field_validator("listen")
    @classmethod
    def _address(cls, text: str) -> str:
        if text:
            parse_address(text)
        return text


class Config(_Section):
    source: Source
    defaults: Defaults = Field(default_factory=Defaults)
    warehouse: Warehouse = Field(default_factory=Warehouse)
    batch: Batch = Field(default_factory=lambda: Batch())
    duckdb: DuckDB = Field(default_factory=lambda: DuckDB())
    spark: Spark = Field(default_factory=lambda: Spark())
    metrics: Metrics = Field(default_factory=lambda: Metrics())
    home: Path = Path(".")

    @property
    def warehouse_path(self) -> Path:
        return self.home / self.warehouse.path

    @property
    def views_path(self) -> Path:
        return self.home / "views"


def _expand(value: Any) -> Any:
    if isinstance(value, str):

        def env(m: re.Match[str]) -> str:
            if m[1] not in os.environ:
                raise ConfigError(
                    f"environment variable {m[1]} is not set",
                    detail="tidemark.toml refers to it.",
                    code="missing_variable",
                )
            return os.environ[m[1]]

        return re.sub(r"\$\{(\w+)\}", env, value)
    if isinstance(value, dict):
        return {k: _expand(v) for k, v in value.items()}
    return value


def load_config(home: Path = Path(".")) -> Config:
    """The configuration in `home`; raises ConfigError with the nearest known key for one that is unknown."""
    path = home / FILE
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as e:
        raise ConfigError(
            f"there is no tidemark.toml in {home.resolve()}", code="no_project", hint="Run: tidemark init"
        ) from e
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise ConfigError("tidemark.toml does not parse", detail=str(e), code="syntax_error") from e
    except OSError as e:
        raise ConfigError("tidemark.toml cannot be read", detail=str(e), code="unreadable") from e
    if "home" in data:
        raise ConfigError('unknown key "home" in tidemark.toml', code="unknown_key")
    try:
        return Config.model_validate({**_expand(data), "home": home})
    except ValidationError as e:
        raise _explain(e) from e


def types_in(home: Path) -> dict[str, str]:
    """What tidemark.toml declares under [source.types], where there is one, and whatever else is in it."""
    try:
        found = tomllib.loads((home / FILE).read_text(encoding="utf-8")).get("source", {}).get("types", {})
    except (OSError, ValueError, AttributeError):
        return {}
    return {str(n): t for n, t in found.items() if isinstance(t, str) and is_declared(t)}


def _explain(e: ValidationError) -> ConfigError:
    first = e.errors()[0]
    place = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        section: Any = Config
        for part in first["loc"][:-1]:
            section = section.model_fields[part].annotation
            section = getattr(section, "default_factory", None) or section
        keys = [k for k in section.model_fields if k != "home"]
        near = difflib.get_close_matches(str(first["loc"][-1]), keys, 1, 0.5)
        return ConfigError(
            f'unknown key "{place}" in tidemark.toml',
            code="unknown_key",
            hint=f'Perhaps you meant "{near[0]}".' if near else f"Known keys: {', '.join(keys)}.",
        )
    if first["type"] == "missing":
        return ConfigError(
            f'tidemark.toml lacks "{place}"', code="missing_key", hint="Run tidemark init for a commented example."
        )
    return ConfigError(f'"{place}" in tidemark.toml is wrong', detail=first["msg"], code="bad_value")
