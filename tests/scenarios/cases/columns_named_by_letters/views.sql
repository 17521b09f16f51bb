-- view: objects
SELECT s AS k, jsonb_object_agg(k, v) AS v, jsonb_object_agg(v, k ORDER BY k) AS s, json_object_agg(k, m ORDER BY k) AS n FROM l GROUP BY s;
-- view: objects_by_letters
SELECT v, y AS n, c AS s, k, e || '{"q": 1, "a": "x"}' AS e, e - 'k' AS x, e - '{k,z}'::text[] AS w, jsonb_build_object('v', v, 'k', k) AS l FROM l;
-- view: arrays_by_letters
SELECT k, g AS v, h AS i, array_to_string(g, ',', '?') AS s, array_to_string(h, ';') AS t, array_position(h, 'x') AS p, array_remove(g, n) AS n, array_replace(h, 'x', v) AS w, h::text AS h, 'x' = ANY (h) AS u, c = ALL (g) AS c FROM l;
-- view: json_by_letters
SELECT k, j, jsonb_array_length(j) AS v, j - 0 AS i, j || '["v"]' AS l, j ? 'k' AS e, j @> '["k"]' AS s, to_jsonb(h) AS h, to_jsonb(v) AS t, e ->> 'z' AS n, e = j AS u FROM l;
-- view: texts_by_letters
SELECT k, initcap(w) AS w, to_char(t, 'YYYY-MM-DD HH24:MI') AS t, to_char(l, '999.99') AS l, i::text AS i, f::text AS s, lpad(v, 5, x) AS v, encode(sha256(v::bytea), 'hex') AS x, md5(a) AS m, translate(a, 'a', 'u') AS u, d + i AS p, age(t, timestamp '2020-01-01') AS e, date_trunc('hour', t) AS n FROM l;
-- view: fractions_by_letters
SELECT v AS l, percentile_cont(0.5) WITHIN GROUP (ORDER BY f) AS i, percentile_disc(0.25) WITHIN GROUP (ORDER BY i) AS s, percentile_cont(0.5) WITHIN GROUP (ORDER BY i) AS v, mode() WITHIN GROUP (ORDER BY s) AS n, sum(i) AS k, avg(i) AS x, array_agg(k ORDER BY k) AS e FROM l GROUP BY v;
-- view: lists_by_letters
SELECT v AS x, jsonb_agg(e ORDER BY k) AS v, json_agg(s ORDER BY k) AS k, string_agg(v || s, ',' ORDER BY k DESC) AS l, array_agg(DISTINCT s) AS i, jsonb_agg(DISTINCT s) AS n, bool_or(k > 3) AS t FROM l GROUP BY v;
-- view: parts_by_letters
SELECT l.k AS p, u.k AS v, u.v AS k, w.v AS s FROM l, jsonb_each(l.e) AS u(k, v), LATERAL jsonb_array_elements(l.j) AS w(v);
-- view: windows_by_letters
SELECT k, array_agg(s) OVER (PARTITION BY v ORDER BY k ROWS 2 PRECEDING) AS v, count(*) OVER (PARTITION BY e) AS e, lag(e) OVER (ORDER BY k) AS l FROM l;
