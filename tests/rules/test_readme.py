"""The SQL of the README's sample is what the command beside it prints."""

from __future__ import annotations

import re
from pathlib import Path

from click.testing import CliRunner

from pipelines.cli import main

README = (Path(__file__).parents[2] / "README.md").read_text()
COMMAND = "tidemark compile city_totals --schema schema.sql"


def blocks() -> list[str]:
    """The table, the view and what is printed for it."""
    start = README.index("## From a table to a fresh view")
    return re.findall(r"```sql\n(.*?)```", README[start:], re.S)[:3]


def test_the_sample_is_what_is_printed(tmp_path: Path) -> None:
    table, view, shown = blocks()
    assert f"`{COMMAND}`" in README
    (tmp_path / "views").mkdir()
    (tmp_path / "views" / "city_totals.sql").write_text(view)
    schema = tmp_path / "schema.sql"
    schema.write_text(table)
    _, *arguments = COMMAND.replace("schema.sql", str(schema)).split()
    out = CliRunner().invoke(main, ["--project", str(tmp_path), *arguments])
    assert out.exit_code == 0, out.output
    printed = [p for p in out.output.strip().split("\n\n") if not p.startswith("-- fill ")]
    assert shown.strip() == "\n\n".join(printed)
