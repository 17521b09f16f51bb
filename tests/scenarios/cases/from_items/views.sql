-- view: lateral_within_parentheses
SELECT a.id, z.m FROM a CROSS JOIN (p b CROSS JOIN LATERAL (SELECT a.b + b.b AS m) z) WHERE b.id = a.id;
-- view: lateral_within_parentheses_on
SELECT a.id, z.m FROM a LEFT JOIN (p b CROSS JOIN LATERAL (SELECT a.b + b.b AS m) z) ON b.id = a.id;
-- view: lateral_within_parentheses_comma
SELECT a.id, z.m FROM a, (p b LEFT JOIN LATERAL (SELECT count(*) AS m FROM q WHERE q.b = a.b AND q.n > b.b) z ON true) WHERE b.id = a.id;
-- view: function_within_parentheses
SELECT a.id, u FROM a CROSS JOIN (p b CROSS JOIN unnest(a.arr) u) WHERE b.id = a.id;
-- view: function_before_an_open_join
SELECT a.id, u FROM a LEFT JOIN unnest(a.arr) u JOIN p ON p.id = u ON u > a.b;
-- view: series_before_an_open_join
SELECT a.id, g FROM a JOIN generate_series(1, 3) g JOIN p c ON g = c.id ON g > a.b;
-- view: right_join_after_parentheses
SELECT p.id, a.id AS a, d.id AS d FROM p, (a JOIN p b ON a.id = b.id) RIGHT JOIN p d ON d.id = a.b WHERE p.id < 4;
-- view: subquery_before_an_open_join
SELECT a.id, c.id AS c FROM a LEFT JOIN (SELECT b FROM q) x JOIN p c ON x.b = c.id ON x.b = a.b;
-- view: on_after_a_cross_join
SELECT a.id, b.b, c.n FROM a LEFT JOIN p b CROSS JOIN (SELECT DISTINCT n FROM q) c ON a.id = b.id AND c.n = b.b;
-- view: on_after_a_natural_join
SELECT a.id, b.id AS p, c.n FROM a LEFT JOIN p b NATURAL JOIN q c ON a.id = b.id;
-- view: three_open_joins
SELECT a.id, b.id AS b, c.id AS c, d.n FROM a FULL JOIN p b LEFT JOIN p c LEFT JOIN q d ON d.b = c.b ON c.id = b.b ON b.id = a.b AND a.t > 'a';
-- view: distinct_extremes
SELECT b, max(DISTINCT id) AS m, min(DISTINCT t) AS n, max(DISTINCT id) FILTER (WHERE id > 20) AS k FROM a GROUP BY b;
-- view: all_of_values
SELECT id FROM p WHERE id <> ALL (VALUES (2), (3)) AND b NOT IN (VALUES (1), (NULL::int)) IS NOT FALSE AND id = ANY (VALUES (1), (2), (4));
-- view: values_of_subqueries
SELECT v.x, count(*) AS n FROM (VALUES ((SELECT max(b) FROM p)), (3), ((SELECT count(*) FROM q))) v(x) JOIN a ON a.b <= v.x GROUP BY v.x;
-- view: lateral_values_of_subqueries
SELECT a.id, v.x FROM a CROSS JOIN LATERAL (VALUES (a.b), ((SELECT count(*) FROM p WHERE p.b = a.b))) v(x);
-- view: rows_of_a_keyless_side
SELECT p.id, count(q.*) AS n, count(DISTINCT q.n) AS d FROM p LEFT JOIN q ON q.b = p.b GROUP BY p.id;
-- view: using_alias
SELECT x.b, x.b + q.n AS s FROM p JOIN q USING (b) AS x WHERE x.b > 0;
-- view: star_of_an_enclosing_table
SELECT s.id, s.n FROM p, LATERAL (SELECT p.*, q.n FROM q WHERE q.b = p.b ORDER BY q.n NULLS LAST LIMIT 2) s;
-- view: recursion_over_a_window
WITH RECURSIVE r AS (SELECT i, j, rn FROM (SELECT id AS i, b AS j, row_number() OVER (PARTITION BY b ORDER BY id) AS rn FROM p) n WHERE j > 0 UNION ALL SELECT n.id, n.b, rn FROM r JOIN p n ON n.id = r.j AND n.id < r.i) SELECT * FROM r;
-- view: recursion_beside_a_left_join
WITH RECURSIVE r(u, v, d) AS (SELECT id, b, 1 FROM p UNION SELECT e.u, e.v, d + 1 FROM r JOIN (SELECT p.id AS u, p.b AS v, a.t FROM p LEFT JOIN a ON a.id = p.b) e ON e.u = r.v AND e.t IS DISTINCT FROM 'c' WHERE d < 5) SELECT * FROM r;
-- view: recursion_beside_not_in
WITH RECURSIVE r(u, v, d) AS (SELECT id, b, 1 FROM p WHERE id NOT IN (SELECT n FROM q WHERE n IS NOT NULL) UNION SELECT e.id, e.b, d + 1 FROM r JOIN p e ON e.id = r.v WHERE d < 5) SELECT * FROM r;
-- view: facts_after_their_dimensions
SELECT x.t, y.id AS y, z.b, count(*) AS n FROM a x, p y, p z, q WHERE q.b = y.b AND q.n = z.id AND x.id = q.n + y.id GROUP BY 1, 2, 3;
-- view: recursion_for_each_row
SELECT k.id, (WITH RECURSIVE f(n, t) AS (SELECT 1, 0 UNION ALL SELECT n + 1, t + n FROM f WHERE n <= k.b) SELECT max(t) FROM f) AS tri FROM p k;
-- view: path_of_each_row
SELECT t.id, u.path FROM p t CROSS JOIN LATERAL (WITH RECURSIVE up AS (SELECT t.id AS id, t.b AS parent, 1 AS d UNION ALL SELECT x.id, x.b, up.d + 1 FROM up JOIN p x ON x.id = up.parent AND x.id < up.id) SELECT string_agg(id::text, '/' ORDER BY d) AS path FROM up) u;
-- view: reached_from_each_row
SELECT t.id, (WITH RECURSIVE up AS (SELECT x.id, x.b FROM p x WHERE x.id = t.b UNION SELECT x.id, x.b FROM up JOIN p x ON x.id = up.b) SELECT count(*) FROM up) AS n FROM a t;
-- view: on_a_cycle
SELECT t.id FROM p t WHERE EXISTS (WITH RECURSIVE up AS (SELECT x.id, x.b FROM p x WHERE x.id = t.b UNION SELECT x.id, x.b FROM up JOIN p x ON x.id = up.b) SELECT 1 FROM up WHERE id = t.id);
-- view: pairs_in_recursion_of_each_row
SELECT t.id, (WITH RECURSIVE up AS (SELECT x.id, x.b FROM p x WHERE x.b = t.b AND t.b > 1 UNION SELECT x.id, x.b FROM up u JOIN p x ON x.id = u.b AND x.id < t.id) SELECT array_agg(u.id * 100 + v.id ORDER BY u.id, v.id) FROM up u JOIN up v ON v.id = u.b) AS n FROM a t;
-- view: array_of_an_ordered_query
SELECT p.id, ARRAY(SELECT a.id FROM a WHERE a.b = p.b ORDER BY a.t DESC, a.id) AS r, ARRAY(SELECT z.id FROM (SELECT * FROM a WHERE a.b = p.b ORDER BY t, id DESC) z) AS s FROM p;
-- view: array_of_distinct_and_of_a_union
SELECT p.id, ARRAY(SELECT DISTINCT a.b FROM a WHERE a.b > p.b ORDER BY 1 DESC) AS r, ARRAY(SELECT a.b FROM a UNION SELECT p.b ORDER BY 1) AS u FROM p;
