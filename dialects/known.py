"""The dialects, by their engine's name."""

from __future__ import annotations

from collections.abc import Mapping

from dialects.dialect import Dialect
from dialects.duckdb import DUCKDB
from dialects.spark import SPARK

DIALECTS: Mapping[str, Dialect] = {d.name: d for d in (DUCKDB, SPARK)}
