-- view: fractions_as_text
SELECT id, CAST(share AS text) AS t, 'of ' || share AS o, share::varchar(4) AS s, to_jsonb(share) AS j, ARRAY[share]::text AS a FROM t;
-- view: listed_fractions
SELECT g, string_agg(share::text, ' ' ORDER BY id) AS s FROM t GROUP BY g;
-- view: characters_of_bytes
SELECT id, length(b, 'UTF8') AS characters, length(b) AS bytes FROM t;
-- view: rows_of_few
SELECT id, share, g FROM t WHERE id < 4;
-- view: renamed_rows
SELECT to_jsonb(v) AS j, json_build_array(v) AS l FROM rows_of_few v(a, b);
-- view: counted_rows_without_columns
SELECT count(*) AS n FROM (SELECT FROM t WHERE g > 0) q;
-- view: met_by_rows_without_columns
SELECT id FROM t WHERE EXISTS (SELECT FROM u WHERE u.g = t.g AND u.v > 4);
-- view: frames_of_the_outer_row
SELECT t.id, x.id AS u, x.s FROM t, LATERAL (SELECT u.id, sum(v) OVER (ORDER BY u.id ROWS BETWEEN t.g PRECEDING AND CURRENT ROW) AS s
  FROM u WHERE u.g = t.g) x;
-- view: frames_of_an_outer_row_without_a_tie
SELECT t.id, (SELECT max(s) FROM (SELECT sum(v) OVER (ORDER BY u.id ROWS BETWEEN t.g FOLLOWING AND t.g + 1 FOLLOWING) AS s FROM u) q) AS m FROM t;
