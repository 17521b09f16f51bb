"""What views may read: the source's catalog, with columns as tidemark.toml declares them."""

from __future__ import annotations

import psycopg

from compiler.catalog import Catalog
from compiler.declared import check_there, declared
from connectors.postgres.catalog import load_catalog
from pipelines.config import Config


def source_catalog(conn: psycopg.Connection, config: Config) -> Catalog:
    """Raises NotDeclared where [source.types] names a column that is not there, or cannot be kept so."""
    catalog = load_catalog(conn)
    check_there(catalog, config.source.types)
    return declared(catalog, config.source.types)
