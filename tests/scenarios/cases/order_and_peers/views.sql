-- view: row_at_least_all
SELECT id FROM t WHERE (a, b) >= ALL (SELECT a, b FROM u);
-- view: row_equals_all
SELECT id, (a, b) = ALL (SELECT a, b FROM u WHERE id < 2) AS e FROM t;
-- view: row_below_any
SELECT id, (a, b) < ANY (SELECT a, b FROM u) AS below, (a, b) <> ANY (SELECT a, b FROM u) AS other FROM t;
-- view: row_at_least_all_correlated
SELECT id FROM t WHERE (a, b) >= ALL (SELECT a, b FROM u m WHERE m.a = t.a);
-- view: row_between
SELECT id FROM t WHERE (a, b) BETWEEN (1, 1) AND (2, 1);
-- view: interval_extremes
SELECT k, min(iv) AS lo, max(iv) AS hi FROM t GROUP BY k;
-- view: interval_maximum
SELECT max(iv) AS hi, min(iv) AS lo, sum(a) AS s FROM t;
-- view: interval_least
SELECT id, least(iv, interval '720 hours') AS l, greatest(iv, interval '1 day') AS g FROM t;
-- view: ties_after_an_offset
SELECT k, count(*) AS n FROM (SELECT k, w FROM t ORDER BY w DESC, k, id OFFSET 1 ROWS FETCH FIRST 2 ROWS WITH TIES) q GROUP BY k;
-- view: groups_frame
SELECT id, first_value(b) OVER (PARTITION BY k ORDER BY b GROUPS 1 PRECEDING) AS f FROM z;
-- view: without_ties
SELECT id, sum(b) OVER (PARTITION BY k ORDER BY b ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE TIES) AS ties,
  sum(b) OVER (PARTITION BY k ORDER BY b ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE GROUP) AS peers FROM z;
-- view: range_offset
SELECT id, first_value(b) OVER (PARTITION BY k ORDER BY b RANGE 1 PRECEDING) AS f FROM z;
-- view: jsonb_in
SELECT id FROM t WHERE j IN (SELECT j FROM t WHERE id IN (1, 3));
-- view: bigint_sums
SELECT k, max(bi) AS m, sum(bi) AS s FROM t GROUP BY k;
-- view: percentile_of_equals
SELECT k, percentile_cont(0.9) WITHIN GROUP (ORDER BY w) = max(w) AS e, percentile_cont(0.25) WITHIN GROUP (ORDER BY w DESC) AS q FROM t GROUP BY k;
-- view: several_percentiles
SELECT k, percentile_cont(ARRAY[0.25, 0.5]) WITHIN GROUP (ORDER BY w) AS ps FROM t GROUP BY k;
-- view: natural_chain
SELECT * FROM n1 NATURAL LEFT JOIN n2 NATURAL JOIN n3;
-- view: jsonb_keys
SELECT count(*) AS n, max(id) AS m FROM t GROUP BY j;
-- view: jsonb_distinct
SELECT count(*) AS n, (SELECT count(DISTINCT j) FROM t) AS d FROM (SELECT DISTINCT j FROM t) q;
-- view: jsonb_partition
SELECT id, count(*) OVER (PARTITION BY j) AS n FROM t;
-- view: the_first_half
SELECT count(*) AS n, max(id) AS m FROM (SELECT id FROM t ORDER BY b DESC NULLS LAST, id LIMIT (SELECT (count(*) + 1) / 2 FROM t)) x;
-- view: all_but_the_first_of_another
SELECT id, b FROM t ORDER BY id OFFSET (SELECT count(*) / 3 FROM u) LIMIT 1 + 2;
-- view: as_many_of_each_as_it_says
SELECT u.id, x.id AS t FROM u, LATERAL (SELECT t.id FROM t WHERE t.a = u.a ORDER BY t.id LIMIT (u.b + 1)) x;
-- view: no_limit
SELECT id FROM u UNION SELECT id FROM t ORDER BY 1 LIMIT (SELECT max(b) FROM t WHERE id < 0);
-- view: rows_told_apart
SELECT k, count(DISTINCT (a, b)) AS n, count(DISTINCT (j, a)) AS m FROM t GROUP BY k;
