"""init: a commented project to start from."""

from __future__ import annotations

from pathlib import Path

from compiler.errors import TidemarkError
from pipelines.private import published

CONFIG = """# Tidemark: SQL views in a warehouse, kept fresh with what is committed in Postgres.

[source]
# A libpq connection string. ${NAME} is replaced by an environment variable, so that secrets stay out of this file.
dsn = "host=127.0.0.1 dbname=shop user=postgres"
# capture = "debezium"     # read the slot through Debezium's engine (pip install 'tidemark[debezium]')
# events = "kafka://broker:9092"  # … or read what its connector writes there, or to a folder: "file:///var/lib/events"
# copy_rate = "20MB"       # a second, while tables are copied: by default as fast as it goes
# types = { "public.token.price" = "text" } # of numerics with NaN or any number of digits; or "numeric(38,18)"
# timeout = 30             # seconds of silence after which the stream is dropped and opened again

[defaults]
engine = "auto"            # auto | duckdb | spark; a view can say its own: WITH (engine = 'duckdb')

[warehouse]
path = "warehouse"         # the DuckDB file and the Delta tables live under it

# [batch]                  # a batch closes on a whole transaction when one of these is reached
# rows = 200000
# bytes = 134217728
# seconds = 0.02
# memory = "256MB"         # of transactions that are being received; what is more waits in a file

# [metrics]
# listen = "127.0.0.1:9187" # /metrics, /healthz and /readyz of `tidemark run`

# [duckdb]
# index_memory = "4GB"     # for indexes of large mirrors, by default a quarter of the machine's; "0": none
# index_rows = 500000      # smaller mirrors are read whole

# [spark]
# master = "local[*]"      # or spark://host:7077
# local_memory = "2GB"     # tables on Spark that are no larger together are kept by the driver, without a session
# threshold_rows = 60000000 # engine = 'auto': views that read a larger table go to Spark, whatever is estimated
"""

VIEW = """CREATE MATERIALIZED VIEW city_totals AS
SELECT city, count(*) AS n, sum(balance) AS balance
FROM customer
GROUP BY city;
"""


def init(home: Path) -> list[Path]:
    """Write tidemark.toml and views/; raises TidemarkError where there is a project already."""
    if (home / "tidemark.toml").exists():
        raise TidemarkError(
            f"there is a tidemark.toml in {home.resolve()} already",
            code="exists",
            hint="Edit it, or start in another folder.",
        )
    (home / "views").mkdir(parents=True, exist_ok=True)
    toml = home / "tidemark.toml"
    toml.touch(0o600)  # it may get a password
    toml.chmod(0o600)
    toml.write_text(CONFIG)
    written = [home / "tidemark.toml"]
    if not list((home / "views").glob("*.sql")):
        (home / "views" / "city_totals.sql.example").write_text(VIEW)
        written.append(home / "views" / "city_totals.sql.example")
    published(home / "views")
    return written
