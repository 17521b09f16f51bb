"""An example of each command, as its --help shows it."""

from __future__ import annotations

from click import Group

EXAMPLES = {
    "init": "tidemark --project shop init",
    "check": "tidemark check",
    "compile": "tidemark compile city_totals --schema schema.sql --engine spark",
    "explain": "tidemark explain city_totals --format json",
    "deploy": "tidemark deploy --keep-going --json",
    "run": "tidemark run --once",
    "status": "tidemark status --watch",
    "query": "tidemark query 'SELECT city, n FROM city_totals ORDER BY n DESC' --wait --format csv",
    "export": "tidemark export city_totals --to out --format parquet",
    "advise": "tidemark advise --json",
    "verify": "tidemark verify city_totals --repair",
    "teardown": "tidemark teardown --yes",
    "demo": "tidemark demo --seconds 30 --no-spark",
}


def show_examples(group: Group) -> None:
    """Each command of the group ends its help with its example; KeyError for one that has none."""
    for name, command in group.commands.items():
        command.epilog = f"\b\nExample:\n  {EXAMPLES[name]}"
