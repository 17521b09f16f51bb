-- view: keys_in_order
SELECT id, json_build_object('bb', id, 'a', owner, 'in', json_build_array(1, json_build_object('y', 1, 'x', 2)))::jsonb AS j FROM posts;

-- view: keys_in_order_as_text
SELECT id, json_build_object('bb', id, 'a', owner)::jsonb::text AS j, row_to_json(b)::jsonb::text AS r FROM badges b;

-- view: equal_to_jsonb
SELECT id FROM posts WHERE json_build_object('a', owner, 'c', 1)::jsonb = jsonb_build_object('c', 1, 'a', owner);

-- view: joined_by_jsonb
SELECT p.id, b.id AS badge FROM posts p JOIN badges b ON json_build_object('zz', p.owner, 'o', 0)::jsonb = jsonb_build_object('o', 0, 'zz', b.owner);

-- view: one_of_both
SELECT json_build_object('a', owner)::jsonb AS j FROM posts UNION SELECT jsonb_build_object('a', owner) FROM badges;

-- view: lists_as_jsonb
SELECT owner, json_agg(json_build_object('n', name, 'id', id) ORDER BY id)::jsonb::text AS j, COALESCE(json_agg(b ORDER BY id) FILTER (WHERE id > 9), '[]'::json)::jsonb::text AS k,
       json_object_agg(id, marks ORDER BY id)::jsonb::text AS o FROM badges b GROUP BY owner;

-- view: of_a_subquery
SELECT p.id, (SELECT json_agg(json_build_object('name', b.name, 'id', b.id) ORDER BY b.id) FROM badges b WHERE b.owner = p.owner)::jsonb::text AS j FROM posts p;

-- view: parts_of_json_columns
SELECT id, doc::jsonb ->> 'a' AS a, (doc::jsonb -> 'b')::int AS b FROM posts;

-- view: rows_on_lines
SELECT owner, json_agg(b ORDER BY id)::text AS j, json_agg(b.* ORDER BY id)::text AS k FROM badges b GROUP BY owner;

-- view: made_rows_on_one_line
SELECT owner, json_agg(row_to_json(b) ORDER BY id)::text AS j, json_agg(to_json(b) ORDER BY id)::text AS k,
       json_agg(CASE WHEN id > 5 THEN row_to_json(b) END ORDER BY id)::text AS c FROM badges b GROUP BY owner;

-- view: made_rows_of_subqueries
SELECT owner, json_agg(x.j ORDER BY x.id)::text AS j, (SELECT json_agg(row_to_json(z) ORDER BY z.id) FROM (SELECT p.id, p.score FROM posts p WHERE p.owner = x.owner) z)::text AS k
FROM (SELECT owner, id, row_to_json(b) AS j FROM badges b) x GROUP BY owner;

-- view: rows_that_may_be_missing
SELECT p.owner, json_agg(b ORDER BY b.id, p.id)::text AS j FROM posts p LEFT JOIN badges b ON b.owner = p.owner AND b.id > 6 GROUP BY p.owner;

-- view: arrays_on_lines
SELECT owner, json_agg(marks ORDER BY id)::text AS j, json_agg(marks ORDER BY id DESC)::text AS k FROM badges GROUP BY owner;

-- view: arrays_on_lines_over
SELECT id, json_agg(marks) OVER (PARTITION BY owner ORDER BY id)::text AS j FROM badges;

-- view: small_powers
SELECT id, power(0.0000001 * id, 3) = 0 AS none, power(0.0000001 * id, 3) > 0 AS some, power(score, 2) AS square, score ^ 3 AS cube FROM posts;

-- view: days_as_seconds
SELECT id, extract(epoch FROM posted)::text AS d, extract(epoch FROM at)::text AS t, concat(id, '@', extract(epoch FROM posted)) AS c,
       jsonb_build_object('e', extract(epoch FROM posted))::text AS j, extract(epoch FROM date '2024-02-29') AS one FROM posts;

-- view: latest_as_seconds
SELECT owner, max(extract(epoch FROM posted))::text AS d FROM posts GROUP BY owner;

-- view: floats_as_numerics
SELECT id, ratio::numeric::text AS r, concat('x', ratio::numeric) AS c, part::numeric::text AS p, jsonb_build_object('n', ratio::numeric)::text AS j,
       round(ratio::numeric, 3)::text AS o, (ratio * 1e12)::numeric::text AS large, (ratio * 1e-9)::numeric::text AS small FROM posts;

-- view: medians_as_numerics
SELECT owner, percentile_cont(0.5) WITHIN GROUP (ORDER BY score)::numeric::text AS m FROM posts GROUP BY owner;

-- view: distinct_in_order
SELECT owner, string_agg(DISTINCT COALESCE(tag, '?'), ',' ORDER BY COALESCE(tag, '?')) AS t, string_agg(DISTINCT CASE WHEN id > 20 THEN tag ELSE 'old' END, ',' ORDER BY CASE WHEN id > 20 THEN tag ELSE 'old' END DESC) AS c,
       array_agg(DISTINCT COALESCE(tag, 'none') ORDER BY COALESCE(tag, 'none')) AS a FROM posts GROUP BY owner;

-- view: ends_of_words
SELECT id, regexp_replace(body, '\yselect\y', 'S', 'g') AS s, regexp_replace(body, '\mse', 'X', 'g') AS m FROM posts;

-- view: keys_taken_away
SELECT id, (to_jsonb(b) - 'marks' - 'owner' - 'x')::text AS rest, to_jsonb(b) - 'id' - 'marks' ->> 'name' AS name FROM badges b;
