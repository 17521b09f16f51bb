-- view: recursion_that_reads_the_time
WITH RECURSIVE a AS (SELECT id, placed FROM ord WHERE placed < now() UNION ALL SELECT m.id, m.placed FROM a JOIN ord m ON m.id = a.id * 2) SELECT count(*) AS n FROM a;
-- view: time_in_the_step
WITH RECURSIVE a AS (SELECT id, manager_id FROM emp WHERE manager_id IS NULL UNION ALL SELECT m.id, m.manager_id FROM a JOIN emp m ON m.manager_id = a.id WHERE now() > '2020-01-01') SELECT id, manager_id FROM a;
-- view: next_one_by_lateral
WITH RECURSIVE m AS (SELECT id FROM emp WHERE id = 1 UNION ALL SELECT n.id FROM m CROSS JOIN LATERAL (SELECT min(o.id) AS id FROM emp o WHERE o.id > m.id) n WHERE n.id IS NOT NULL) SELECT id FROM m;
-- view: loose_index_scan
WITH RECURSIVE ms AS (SELECT min(salary) AS p FROM emp UNION ALL SELECT (SELECT min(l.salary) FROM emp l WHERE l.salary > ms.p) FROM ms WHERE ms.p IS NOT NULL) SELECT p FROM ms WHERE p IS NOT NULL;
-- view: next_one_by_limit
WITH RECURSIVE m AS (SELECT id, placed FROM ord WHERE id = (SELECT min(id) FROM ord) UNION ALL SELECT n.id, n.placed FROM m CROSS JOIN LATERAL (SELECT o.id, o.placed FROM ord o WHERE o.placed > m.placed + interval '3 days' ORDER BY o.placed, o.id LIMIT 1) n) SELECT id, placed FROM m;
-- view: average_of_those_before
WITH RECURSIVE t AS (SELECT id, manager_id, salary, 1 AS d FROM emp WHERE manager_id IS NULL UNION ALL SELECT n.id, n.manager_id, n.salary, m.d + 1 FROM t m JOIN emp n ON n.manager_id = m.id WHERE n.salary > (SELECT avg(x.salary) FROM emp x WHERE x.id < m.id + 10) AND m.d < 9) SELECT id, d FROM t;
-- view: left_join_that_is_inner_in_a_round
WITH RECURSIVE t AS (SELECT id, 1 AS d FROM emp WHERE manager_id IS NULL UNION ALL SELECT e.id, t.d + 1 FROM t LEFT JOIN emp e ON e.manager_id = t.id WHERE e.id IS NOT NULL) SELECT id, d FROM t;
-- view: recursion_for_each_row
SELECT c.id, (WITH RECURSIVE m AS (SELECT min(o.id) AS id FROM ord o WHERE o.customer = c.id UNION ALL SELECT n.id FROM m CROSS JOIN LATERAL (SELECT min(o.id) AS id FROM ord o WHERE o.id > m.id AND o.customer = c.id) n WHERE n.id IS NOT NULL) SELECT count(id) FROM m) AS n FROM emp c;
-- view: at_least_all_of_its_own
SELECT l.ord, l.no, l.amount >= ALL (SELECT x.amount FROM line x WHERE x.ord = l.ord) AS top FROM line l;
-- view: below_all_others_of_its_own
SELECT l.ord, l.no, CASE WHEN l.amount < ALL (SELECT x.amount FROM line x WHERE x.ord = l.ord AND x.no <> l.no) THEN 'low' WHEN l.amount > ANY (SELECT x.amount FROM line x WHERE x.ord = l.ord AND x.no <> l.no) THEN 'not least' ELSE '-' END AS w FROM line l;
-- view: later_ones_of_the_same
SELECT o.id, (SELECT count(*) FROM ord x WHERE x.customer = o.customer AND x.placed > o.placed) AS n, (SELECT max(x.total) FROM ord x WHERE x.customer = o.customer AND x.total < o.total) AS below FROM ord o;
-- view: last_before_by_lateral
SELECT o.id, b.id AS before FROM ord o LEFT JOIN LATERAL (SELECT x.id FROM ord x WHERE x.customer = o.customer AND x.placed < o.placed ORDER BY x.placed DESC, x.id LIMIT 1) b ON true;
-- view: a_day_is_not_24_hours
SELECT e.id, EXISTS (SELECT 1 FROM emp p WHERE p.id * interval '24 hours' = e.d AND e.d::text LIKE '%day%') AS x FROM (SELECT id, id * interval '1 day' AS d FROM emp) e;
-- view: shown_as_the_outer_has_it
SELECT c.k, (SELECT max(c.iv::text || x.t) FROM (VALUES (interval '24 hours', 'a'), (interval '2 days', 'b')) x(iv, t) WHERE x.iv = c.iv) AS m FROM (SELECT id AS k, id * interval '1 day' AS iv FROM emp) c;
-- view: lateral_shows_the_outer
SELECT e.id, x.iv FROM (SELECT id, id * interval '1 day' AS d FROM emp) e JOIN LATERAL (SELECT e.d::text AS iv FROM (SELECT id * interval '24 hours' AS h FROM emp) p WHERE p.h = e.d) x ON true;
-- view: zero_and_its_negative
SELECT c.id, (SELECT count(*) FROM (SELECT share * -0.0::float8 AS z FROM line WHERE ord < 10) x WHERE x.z = c.z AND (c.z::text || '') = '0') AS n FROM (SELECT id, id * 0.0::float8 AS z FROM emp) c;
-- view: left_join_that_is_inner
SELECT o.id, l.no, l.amount FROM ord o LEFT JOIN line l ON l.ord = o.id AND l.no < 4 WHERE l.amount > 3 OR l.amount < 1;
-- view: left_join_that_is_inner_by_one_condition
SELECT o.customer, count(*) AS n, sum(l.amount) AS s FROM ord o LEFT JOIN line l ON l.ord = o.id LEFT JOIN emp e ON e.id = o.customer WHERE l.amount + 1 > 3 AND e.name IS NOT NULL GROUP BY o.customer;
-- view: left_join_that_stays
SELECT o.id, l.no FROM ord o LEFT JOIN line l ON l.ord = o.id AND l.no = 2 WHERE coalesce(l.amount, 0) < 9 AND (l.no IS NULL OR l.no = 2);
-- view: equal_in_parts_to_a_null
SELECT l.ord, l.no, (SELECT count(*) FROM line x WHERE x.amount IS NOT DISTINCT FROM l.amount AND x.no = l.no AND x.ord > l.ord) AS n, l.amount = ANY (SELECT x.amount FROM line x WHERE x.no = l.no AND x.ord < l.ord) AS before FROM line l;
-- view: pushed_through_groups
SELECT e.id, (SELECT max(n) FROM (SELECT o.customer, count(*) AS n FROM ord o WHERE o.customer = e.id AND o.total > e.salary / 100 GROUP BY o.customer, o.id % 3) g) AS m, (SELECT string_agg(t::text, ',' ORDER BY t) FROM (SELECT o.total AS t FROM ord o WHERE o.customer = e.id UNION SELECT e.salary) u WHERE t < e.salary) AS s FROM emp e;
-- view: having_alone_of_nothing
SELECT e.id FROM emp e WHERE EXISTS (SELECT 1 FROM ord o WHERE o.customer = e.id HAVING true);
-- view: empty_set_of_nothing
SELECT e.id, (SELECT count(*) FROM (SELECT o.total FROM ord o WHERE o.customer = e.id GROUP BY ROLLUP (o.total)) t) AS n, (SELECT count(*) FROM (SELECT 1 FROM ord o WHERE o.customer = e.id AND o.total < e.salary GROUP BY ()) t) AS one FROM emp e;
-- view: sets_by_lateral
SELECT e.id, l.total, l.month FROM emp e CROSS JOIN LATERAL (SELECT o.total, date_trunc('month', o.placed AT TIME ZONE 'UTC') AS month FROM ord o WHERE o.customer = e.id GROUP BY GROUPING SETS ((1), (2), ())) l;
-- view: not_in_sets
SELECT e.id FROM emp e WHERE e.salary NOT IN (SELECT o.total FROM ord o WHERE o.customer = e.id GROUP BY CUBE (o.total));
-- view: left_join_that_both_sides_tie
SELECT e.id, (SELECT count(*) FROM ord o LEFT JOIN (SELECT l.no FROM line l WHERE l.ord = e.id) x ON x.no = e.id) AS n FROM emp e;
-- view: in_beside_an_alternative
SELECT e.id, (SELECT count(*) FROM ord o WHERE e.manager_id IN (SELECT l.no FROM line l WHERE l.ord = e.manager_id) OR o.total > e.salary / 50) AS n FROM emp e;
-- view: lateral_that_both_sides_tie
SELECT e.id, l.id AS ord, l.no FROM emp e LEFT JOIN LATERAL (SELECT o.id, x.no FROM ord o LEFT JOIN (SELECT l.no, l.ord FROM line l WHERE l.no = e.id) x ON x.ord = o.id AND o.customer < e.id WHERE o.id < 9) l ON true;
-- view: not_in_within_exists
SELECT e.id FROM emp e WHERE EXISTS (SELECT 1 FROM ord o WHERE e.manager_id NOT IN (SELECT l.no FROM line l WHERE l.ord = o.id AND l.no = e.manager_id) GROUP BY o.customer HAVING count(*) > 1);
-- view: filtered_by_lateral
WITH RECURSIVE a AS (SELECT id, salary, 0 AS d FROM emp WHERE manager_id IS NULL UNION ALL SELECT c.id, c.salary, a.d + 1 FROM a CROSS JOIN LATERAL (SELECT e.id, e.salary FROM emp e WHERE e.manager_id = a.id AND e.salary > a.d) c) SELECT * FROM a;
-- view: pairs_by_lateral
SELECT o.id, x.no, x.w FROM ord o JOIN LATERAL (SELECT l.no, l.amount * 2 AS w, l.share FROM line l WHERE l.ord = o.id AND l.amount < o.total) x ON x.no <> o.customer;
-- view: pairs_or_none_by_lateral
SELECT o.id, x.no, x.w FROM ord o LEFT JOIN LATERAL (SELECT l.no, l.amount * 2 AS w FROM line l WHERE l.ord = o.id AND l.amount < o.total) x ON x.w > 3;
