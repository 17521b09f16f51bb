"""Values that an engine's type cannot hold: named by table, column and key; the views that read the column are set
aside, no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.errors import TidemarkError
from pipelines.asking.ask import ask
from tests.project import Project

BAD = {
    "numeric-too-many-digits": ("numeric", "1e30"),
    "numeric-too-many-decimals": ("numeric", "0.0000000000001"),
    "numeric-nan": ("numeric(10,2)", "'NaN'"),
    "numeric-infinity": ("numeric", "'Infinity'"),
    "numeric-wide-declaration": ("numeric(60,0)", "1e50"),
    "array-of-two-dimensions": ("int4[]", "'{{1,2},{3,4}}'"),
    "array-with-bounds": ("int4[]", "'[0:1]={1,2}'"),
    "timestamp-far-away": ("timestamp", "'294276-12-31 23:59:59.999999'"),
}
EXACT = {
    "date-infinity": ("date", "'infinity'", "infinity"),
    "date-before-christ": ("date", "'0044-03-15 BC'", "0044-03-15 (BC)"),
    "timestamp-minus-infinity": ("timestamp", "'-infinity'", "-infinity"),
    "time-end-of-day": ("time", "'24:00:00'", "24:00:00"),
    "text-array-with-quotes": ("text[]", "ARRAY['it''s']", "it's"),
    "text-array-with-brackets": ("text[]", "ARRAY['[x]', '{y}', '(z)']", "[x]|{y}|(z)"),
    "text-array-with-null-word": ("text[]", "ARRAY['null', 'Null']", "null|Null"),
    "bytea-array": ("bytea[]", "ARRAY['\\x00ff'::bytea]", "\\x00\\xFF"),
    "interval-array": ("interval[]", "ARRAY['1 day'::interval]", "1 day"),
    "json-array": ("json[]", "ARRAY['{\"a\": 1}'::json]", '{"a": 1}'),
    "char-array": ("char(3)[]", "ARRAY['a']", "a  "),
}


def deployed(home: Path, dsn: str, kind: str) -> Project:
    p = Project.create(home, dsn, {"copy": "SELECT a, b, v FROM readings", "n": "SELECT count(*) AS n FROM readings"})
    p.source(
        f"CREATE TABLE readings (a int, b text, v {kind}, PRIMARY KEY (a, b))",
        "INSERT INTO readings VALUES (1, 'x', NULL)",
    )
    p.deploy()
    return p


@pytest.mark.parametrize("case", BAD)
def test_a_streamed_value_out_of_range_is_named_and_stops_what_reads_it(
    database: str, tmp_path: Path, case: str
) -> None:
    kind, value = BAD[case]
    p = deployed(tmp_path, database, kind)
    p.source("INSERT INTO readings VALUES (2, 'y', NULL)", f"INSERT INTO readings VALUES (42, 'forty-two', {value})")
    p.catch_up()
    said = {v.name: v.error for v in p.deployed.views}
    assert '"public.readings"' in said["copy"] and '"v"' in said["copy"] and not said["n"]
    assert "a = 42" in said["copy"] and "b = forty-two" in said["copy"]
    with pytest.raises(TidemarkError, match="is set aside") as e:
        ask(p.config, "SELECT a FROM copy", False)
    assert "a = 42" in e.value.detail and e.value.hint
    assert ask(p.config, "SELECT n FROM n", False).to_pylist() == [{"n": 3}]


def test_a_repaired_value_is_landed_by_the_next_deploy(database: str, tmp_path: Path) -> None:
    p = deployed(tmp_path, database, "numeric(10,2)")
    p.source("INSERT INTO readings VALUES (2, 'y', 'NaN')")
    p.catch_up()
    p.source("UPDATE readings SET v = 1 WHERE a = 2")
    p.deploy()
    p.assert_equal()


def test_a_copied_value_out_of_range_is_named_and_leaves_nothing_behind(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"copy": "SELECT a, v FROM readings"})
    p.source("CREATE TABLE readings (a int PRIMARY KEY, v numeric)", "INSERT INTO readings VALUES (1, 0), (42, 1e30)")
    with pytest.raises(TidemarkError) as e:
        p.deploy()
    assert e.value.code == "value_out_of_range"
    assert '"public.readings"' in str(e.value) and '"v"' in str(e.value) and "a = 42" in str(e.value)
    left = p.command("status")
    assert left.returncode == 1 and "nothing is deployed" in left.stderr


@pytest.mark.parametrize("case", list(EXACT))
def test_an_unusual_value_arrives_as_it_is(database: str, tmp_path: Path, case: str) -> None:
    kind, value, want = EXACT[case]
    p = deployed(tmp_path, database, kind)
    p.source(f"INSERT INTO readings VALUES (2, 'y', {value})")
    p.catch_up()
    shown = "array_to_string(list_transform(v, lambda x: x::VARCHAR), '|')" if kind.endswith("]") else "v::VARCHAR"
    assert ask(p.config, f"SELECT {shown} AS v FROM copy WHERE a = 2", False).to_pylist() == [{"v": want}]


@pytest.mark.parametrize(
    ("kind", "bad"),
    [
        ("numeric[]", "{1.5,NaN}"),
        ("numeric[]", "{1e50}"),
        ("numeric[]", "{1,0.12345678901234567}"),
        ("numeric(10,2)[]", "{NaN,1}"),
        ("timestamp[]", '{"2024-01-01 00:00:00","294276-12-31 23:59:59.999999"}'),
    ],
)
def test_an_element_that_no_type_holds_stops_what_reads_it_alone(
    kind: str, bad: str, database: str, tmp_path: Path
) -> None:
    views = {"v": "SELECT id, a FROM t", "w": "SELECT id, x FROM t"}
    p = Project.create(tmp_path, database, views)
    p.source(f"CREATE TABLE t (id int PRIMARY KEY, a {kind}, x int)", "INSERT INTO t VALUES (1, '{}', 1), (2, NULL, 2)")
    p.deploy()
    p.source(f"INSERT INTO t VALUES (3, '{bad}', 3)", "UPDATE t SET x = x + 1")
    p.catch_up()
    assert {v.name for v in p.deployed.views if "Row id = 3" in v.error} == {"v"}
    assert {r.view for r in p.verify() if not r.equal} == {"v"}
    p.source("UPDATE t SET a = '{}' WHERE id = 3")
    p.catch_up()
    p.assert_equal()
