"""tidemark.toml: read strictly, secrets expanded, errors that name the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.config import ConfigError, load_config

SOURCE = '[source]\ndsn = "host=h dbname=d"\n'


def write(home: Path, text: str) -> Path:
    (home / "tidemark.toml").write_text(text)
    return home


def test_the_shortest_configuration_has_defaults(tmp_path: Path) -> None:
    c = load_config(write(tmp_path, SOURCE))
    assert (c.source.dsn, c.defaults.engine) == ("host=h dbname=d", "auto")
    assert c.warehouse_path == tmp_path / "warehouse"
    assert c.views_path == tmp_path / "views"
    assert c.batch.rows > 0 and c.batch.seconds < 1


def test_every_section_is_read(tmp_path: Path) -> None:
    c = load_config(
        write(
            tmp_path,
            SOURCE
            + '[defaults]\nengine = "spark"\n[warehouse]\npath = "w"\n[batch]\nrows = 5\nbytes = 6\nseconds = 0.5\n'
            '[duckdb]\nindex_memory = "1.5 GB"\nindex_rows = 7\n'
            '[spark]\nmaster = "spark://m:7077"\nthreshold_rows = 9\n[spark.settings]\n"spark.x" = "y"\n',
        )
    )
    assert (c.defaults.engine, c.warehouse.path) == ("spark", "w")
    assert (c.batch.rows, c.batch.bytes, c.batch.seconds) == (5, 6, 0.5)
    assert (c.duckdb.index_bytes, c.duckdb.index_rows) == (3 << 29, 7)
    assert (c.spark.master, c.spark.threshold_rows, c.spark.settings) == ("spark://m:7077", 9, {"spark.x": "y"})


def test_environment_variables_are_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TM_PASSWORD", "s3cret$")
    c = load_config(write(tmp_path, '[source]\ndsn = "user=u password=${TM_PASSWORD}"\n'))
    assert c.source.dsn == "user=u password=s3cret$"


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("[source\n", "syntax_error", ["does not parse"]),
        ("", "missing_key", ['"source"', "init"]),
        ("[source]\n", "missing_key", ['"source.dsn"', "init"]),
        (SOURCE + "[defaults]\nengin = 'duckdb'\n", "unknown_key", ['"defaults.engin"', '"engine"']),
        (SOURCE + "[sourc]\n", "unknown_key", ['"sourc"', '"source"']),
        (SOURCE + "[batch]\nrow = 1\n", "unknown_key", ['"batch.row"', '"rows"']),
        (SOURCE + "[batch]\nzzz = 1\n", "unknown_key", ['"batch.zzz"', "rows, bytes, seconds"]),
        (SOURCE + "[spark]\nmasters = ''\n", "unknown_key", ['"spark.masters"', '"master"']),
        ("dns = 1\n" + SOURCE, "unknown_key", ['"dns"']),
        ("home = '.'\n" + SOURCE, "unknown_key", ['"home"']),
        (SOURCE + "[duckdb]\nindex_memory = 'lots'\n", "bad_value", ['"duckdb.index_memory"', "4GB"]),
        (SOURCE + "[defaults]\nengine = 'oracle'\n", "bad_value", ['"defaults.engine"', "duckdb", "spark"]),
        (SOURCE + "[batch]\nrows = 0\n", "bad_value", ['"batch.rows"', "greater than 0"]),
        (SOURCE + "[batch]\nrows = 'many'\n", "bad_value", ['"batch.rows"', "integer"]),
        ("[source]\ndsn = 5\n", "bad_value", ['"source.dsn"', "string"]),
        ("source = 'host=h'\n", "bad_value", ['"source"']),
        ('[source]\ndsn = "password=${TM_NOT_SET}"\n', "missing_variable", ["TM_NOT_SET"]),
    ],
)
def test_a_wrong_configuration_says_what_and_where(tmp_path: Path, text: str, code: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as e:
        load_config(write(tmp_path, text))
    assert (e.value.code, e.value.exit_code) == (code, 2)
    for w in words:
        assert w in str(e.value)


def test_a_folder_without_a_project_says_init(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="tidemark init") as e:
        load_config(tmp_path)
    assert (e.value.code, e.value.exit_code) == ("no_project", 2)


def test_a_bad_value_does_not_show_the_password(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as e:
        load_config(write(tmp_path, '[source]\ndsn = "password=hunter2"\nport = "hunter2"\n'))
    assert "hunter2" not in str(e.value)
