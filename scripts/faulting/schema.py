"""The tables of the workload, and the views over them."""

from __future__ import annotations

ACCOUNTS = 20
TOTAL = 2 * ACCOUNTS * 1000
BULK = 110_000

TABLES = ("item", "part", "tag", "account_a", "account_b", "mark")
SCHEMA = (
    "CREATE TABLE item (id int PRIMARY KEY, kind int, name text, price numeric(12,2), since date, note text)",
    "ALTER TABLE item ALTER note SET STORAGE EXTERNAL",
    "CREATE TABLE part (id int PRIMARY KEY, item int, qty int NOT NULL)",
    "CREATE TABLE tag (label text, n int)",
    "ALTER TABLE tag REPLICA IDENTITY FULL",
    "CREATE TABLE account_a (id int PRIMARY KEY, amount bigint NOT NULL)",
    "CREATE TABLE account_b (id int PRIMARY KEY, amount bigint NOT NULL)",
    "CREATE TABLE mark (id int PRIMARY KEY, n bigint NOT NULL)",
    "CREATE TABLE shelf (id int PRIMARY KEY, title text)",
    "CREATE TABLE book (id int PRIMARY KEY, shelf int, pages int, content text)",
    "ALTER TABLE book ALTER content SET STORAGE EXTERNAL",
    "INSERT INTO shelf SELECT g, 'shelf ' || g FROM generate_series(1, 200) g",
    "INSERT INTO book SELECT g, g % 210, g % 9, CASE WHEN g % 20 = 0 THEN repeat(md5(g::text), 90) END "
    "FROM generate_series(1, 400) g",
    "CREATE TABLE later (id int PRIMARY KEY, v int, note text)",
    "CREATE TABLE bulk (id int PRIMARY KEY, v int)",
    "INSERT INTO item SELECT g, g % 7, 'item ' || g, g * 1.25, date '2020-01-01' + g, "
    "CASE WHEN g % 10 = 0 THEN repeat(md5(g::text), 90) END "
    "FROM generate_series(1, 200) g",
    "INSERT INTO item SELECT g, g % 7, 'large', g, NULL, repeat(md5(g::text), 90) FROM generate_series(1001, 1500) g",
    "INSERT INTO part SELECT g, g % 220, g % 9 FROM generate_series(1, 300) g",
    "INSERT INTO tag SELECT 't' || g % 5, g % 3 FROM generate_series(1, 50) g",
    f"INSERT INTO account_a SELECT g, 1000 FROM generate_series(1, {ACCOUNTS}) g",
    f"INSERT INTO account_b SELECT g, 1000 FROM generate_series(1, {ACCOUNTS}) g",
    "INSERT INTO mark VALUES (1, 0)",
    "INSERT INTO later SELECT g, g % 5, 'later ' || g FROM generate_series(1, 100) g",
)
FILL_BULK = f"INSERT INTO bulk SELECT g, g % 10 FROM generate_series(1, {BULK}) g"

VIEWS = {
    "by_kind": "SELECT kind, count(*) AS n, sum(price) AS s, min(since) AS low, max(price) AS high FROM item "
    "GROUP BY kind",
    "joined": "SELECT i.id, i.name, p.id AS part, p.qty FROM item i LEFT JOIN part p ON p.item = i.id",
    "notes": "SELECT id, name, note FROM item WHERE note IS NOT NULL",
    "kinds": "SELECT DISTINCT kind FROM item",
    "sizes": "SELECT n, count(*) AS kinds FROM by_kind GROUP BY n",
    "tags": "SELECT label, count(*) AS n, sum(n) AS s FROM tag GROUP BY label",
    "lonely": "SELECT p.id, p.item FROM part p WHERE NOT EXISTS (SELECT FROM item i WHERE i.id = p.item)",
    "sum_a": "SELECT sum(amount) AS s FROM account_a",
    "sum_b": "SELECT sum(amount) AS s FROM account_b",
    "total": "SELECT sum(amount) AS s FROM (SELECT amount FROM account_a UNION ALL SELECT amount FROM account_b) x",
    "marks": "SELECT id, n FROM mark",
    "owned": "SELECT p.item, p.id, p.qty, i.name FROM part p LEFT JOIN item i ON i.id = p.item",
    "worth": "SELECT i.kind, count(*) AS n, sum(i.price * p.qty) AS s FROM item i JOIN part p ON p.item = i.id "
    "GROUP BY i.kind",
    "dear": "SELECT id, price FROM item WHERE price > (SELECT avg(price) FROM item)",
}
STRATEGIES = {"tags": "split", "sum_b": "split", "total": "split", "worth": "higher_order"}
SOURCED = {  # partial views without mirrors, of which the tables are read by no other
    "shelves": "SELECT s.id, s.title, count(b.id) AS n, sum(b.pages) AS pages, max(md5(b.content)) AS last "
    "FROM shelf s LEFT JOIN book b ON b.shelf = s.id GROUP BY s.id, s.title",
}
VIEWS |= SOURCED
PARTIAL = {"owned": "item", "shelves": "id"}  # views that keep the keys that are asked for
OPTIONS = {n: f"strategy = '{s}'" for n, s in STRATEGIES.items()} | {
    n: f"strategy = 'partial', key = '{k}', memory = '2 KB'" + (", keep_mirrors = false" if n in SOURCED else "")
    for n, k in PARTIAL.items()
}
LAGGING = {"dear": "target_lag = '1 s', final_work = 0.2"}  # views that are finished now and then
OPTIONS |= LAGGING
SPARK_VIEWS = ("by_kind", "joined", "tags", "sum_a", "sum_b", "total", "marks")  # a batch of each costs Spark seconds
LATER = {
    "laters": "SELECT l.v, count(*) AS n, count(i.id) AS items FROM later l LEFT JOIN item i ON i.id = l.id "
    "GROUP BY l.v"
}
BULKS = {"bulks": "SELECT v, count(*) AS n FROM bulk GROUP BY v"}

WHOLE = "SELECT (SELECT s FROM total) AS one, (SELECT s FROM sum_a) + (SELECT s FROM sum_b) AS two"


def views(engine: str) -> dict[str, str]:
    some = {k: v for k, v in VIEWS.items() if engine != "spark" or k in SPARK_VIEWS}
    return some if engine != "spark" else {k: v for k, v in some.items() if k not in LAGGING and k not in SOURCED}
