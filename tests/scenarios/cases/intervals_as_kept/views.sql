-- view: a_window_over_groups
SELECT x.i, x.n, rank() OVER (PARTITION BY x.n ORDER BY x.i) AS r FROM (SELECT i, count(*) AS n FROM t GROUP BY i) x;
-- view: groups_left_join
SELECT x.i, x.n, y.id FROM (SELECT i, count(*) AS n FROM t GROUP BY i) x LEFT JOIN t y ON y.id = x.n;
-- view: having_in
SELECT i, count(*) AS n, max(id) AS m FROM t GROUP BY i HAVING i IN (SELECT i FROM u) OR i IS NULL;
-- view: distinct_joined
SELECT x.i, t.id FROM (SELECT DISTINCT i FROM t) x JOIN t ON t.i = x.i;
-- view: lists_left_join
SELECT x.i, x.s, p.id FROM (SELECT i, string_agg(id::text, ',' ORDER BY id) AS s FROM t GROUP BY i) x LEFT JOIN u p ON p.id = length(x.s);
-- view: greatest_group
SELECT x.i, x.n FROM (SELECT i, count(*) AS n FROM t GROUP BY i) x WHERE n = (SELECT max(n) FROM (SELECT i, count(*) AS n FROM t GROUP BY i) y);
-- view: counted_beside
SELECT x.i, x.n, (SELECT count(*) FROM u WHERE u.i >= x.i) AS c FROM (SELECT i, count(*) AS n FROM t GROUP BY i) x;
-- view: rolled_up
SELECT x.i, sum(x.n) AS s FROM (SELECT i, g, count(*) AS n FROM t GROUP BY ROLLUP (i, g) HAVING count(*) > 0) x GROUP BY x.i;
-- view: in_both
SELECT x.i, u.id FROM (SELECT i FROM t INTERSECT SELECT i FROM u) x JOIN u ON u.i = x.i;
-- view: in_one
SELECT x.i, u.id FROM (SELECT i FROM t EXCEPT SELECT i FROM u WHERE id > 2) x LEFT JOIN u ON u.i = x.i;
-- view: least_in
SELECT g, min(i) AS i, count(*) AS n FROM t GROUP BY g HAVING min(i) IN (SELECT i FROM u);
-- view: extrema_joined
SELECT x.g, x.lo, x.hi, u.id FROM (SELECT g, min(i) AS lo, max(i) AS hi FROM t GROUP BY g) x LEFT JOIN u ON u.i = x.hi;
-- view: groups_of_lists
SELECT count(*) AS c, max(n) AS m FROM (SELECT il, count(*) AS n FROM t GROUP BY il) x;
-- view: counts_of_lists
SELECT count(*) AS n FROM t GROUP BY il;
-- view: ranked_lists
SELECT n, rank() OVER (PARTITION BY n ORDER BY n) AS r FROM (SELECT il, count(*) AS n FROM t GROUP BY il) x;
-- view: lists_joined
SELECT x.n, u.id FROM (SELECT il, count(*) AS n FROM t GROUP BY il) x LEFT JOIN u ON u.id = x.n;
-- view: listed_lists
SELECT x.s, u.id FROM (SELECT il, string_agg(id::text, ',' ORDER BY id) AS s FROM t GROUP BY il) x LEFT JOIN u ON u.id = length(x.s);
-- view: distinct_lists
SELECT count(*) AS n FROM (SELECT DISTINCT il FROM t) x;
-- view: kept_blanks
SELECT x.k = 'a' AS k, x.n, rank() OVER (PARTITION BY x.n ORDER BY x.k) AS r FROM (SELECT coalesce(c, 'none') AS k, count(*) AS n FROM t GROUP BY 1) x;
-- view: bpchars_of_texts
SELECT x.k = 'a' AS k, x.n, u.id FROM (SELECT b::bpchar AS k, count(*) AS n FROM t GROUP BY 1) x LEFT JOIN u ON u.id = x.n;
