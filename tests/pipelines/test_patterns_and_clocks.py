"""Options within patterns, matches that become rows, and the time with fewer digits: as Postgres has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.errors import TidemarkError
from dialects import patterns
from tests.project import Project

SCHEMA = (
    "CREATE TABLE t (id int PRIMARY KEY, body text, at timestamptz)",
    "INSERT INTO t VALUES (1, 'The #Quick #brown', '2020-01-01'), (2, 'fox', '2020-01-01'), (3, NULL, NULL), "
    "(4, 'QUICK, ÄRGER #a', '2200-01-01')",
)
VIEWS = {
    "whatever_case": "SELECT id, body ~ '(?i)quick' AS q, body ~ '(?is)^the.*n$' AS w, body ~ '(?i)ä' AS u FROM t",
    "shown": "SELECT id, substring(body FROM '(?i)#(q\\w+)') AS s, regexp_replace(body, '(?i)q', 'k', 'g') AS r FROM t",
    "tags": "SELECT id, unnest(regexp_matches(body, '#(\\w+)', 'g')) AS tag FROM t",
    "first": "SELECT id, unnest(regexp_matches(body, '#(\\w)(\\w)')) AS letter FROM t",
    "counted": "SELECT unnest(regexp_matches(body, '\\w+', 'g')) AS word, count(*) AS n FROM t GROUP BY 1",
    "old": "SELECT id FROM t WHERE at < current_timestamp(0)",
    "far": "SELECT id FROM t WHERE at > localtimestamp(3) - interval '1 day'",
}


def test_they_are_as_in_postgres(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, VIEWS)
    p.source(*SCHEMA)
    p.deploy()
    p.assert_equal()
    p.source(
        "UPDATE t SET body = body || ' #new #QUICKER' WHERE id < 4", "INSERT INTO t VALUES (5, '#x', '2019-01-01')"
    )
    p.assert_equal()
    p.source("DELETE FROM t WHERE id IN (1, 5)", "UPDATE t SET at = '2190-01-01' WHERE id = 2")
    p.assert_equal()


def test_the_option_is_for_letters_of_all_languages_on_spark() -> None:
    assert patterns.java("(?i)ä$") == r"(?iu)ä\z" and patterns.translated("(?s)a.b") == "a.b"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id, body ~ '(?x)a b' AS m FROM t",
        "SELECT id, body ~ 'a(?i)b' AS m FROM t",
        "SELECT id, unnest(regexp_matches(body, '(a)(b)', 'g')) AS m FROM t",
        "SELECT id, unnest(regexp_matches(body, 'a', 'g')) AS m, generate_series(1, 2) AS n FROM t",
    ],
)
def test_others_are_refused(query: str, database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {"v": query})
    p.source(*SCHEMA)
    with pytest.raises(TidemarkError, match="(not supported|no counterpart)"):
        p.deploy()
