-- view: array_of_elements
SELECT id, ARRAY(SELECT jsonb_array_elements_text(j)) AS e FROM a;
-- view: list_of_elements
SELECT id, (SELECT array_agg(e) FROM jsonb_array_elements_text(j) e) AS e FROM a;
-- view: text_of_elements
SELECT id, (SELECT string_agg(e, ',') FROM jsonb_array_elements_text(j) e) AS e FROM a;
-- view: array_of_unnested
SELECT id, ARRAY(SELECT upper(e) FROM unnest(x) e) AS e FROM a;
-- view: text_of_unnested
SELECT id, (SELECT string_agg(e, ',') FROM unnest(x) e WHERE e > 'a') AS e FROM a;
-- view: json_of_elements
SELECT id, (SELECT jsonb_agg(e) FROM jsonb_array_elements(j) e)::text AS e FROM a;
-- view: keys_and_values
SELECT id, (SELECT string_agg(k, ',') FROM jsonb_object_keys(o) k) AS s, ARRAY(SELECT value FROM jsonb_each_text(o)) AS v FROM a;
-- view: sets_alone
SELECT id, ARRAY(SELECT g FROM generate_series(3, 1, -1) g) AS e, ARRAY(SELECT unnest(x)) AS u, ARRAY(SELECT unnest(x) ORDER BY 1) AS s FROM a;
-- view: words_by_row
SELECT id, string_agg(e, ',') AS s FROM a, regexp_split_to_table(t, ' ') e GROUP BY id;
-- view: matches
SELECT id, (SELECT string_agg(m[1], ',') FROM regexp_matches(t, '[a-z]', 'g') m) AS s FROM a;
-- view: by_group
SELECT g, string_agg(e, ',') AS s, array_agg(e) FILTER (WHERE e <> 'b') AS f FROM a, jsonb_array_elements_text(j) e GROUP BY g;
-- view: titles
SELECT id, (SELECT string_agg(initcap(w), ' ') FROM regexp_split_to_table(t, '\s+') AS w) AS title, (SELECT jsonb_object_agg(k, v) FROM jsonb_each(o) AS q(k, v)) AS oo, (SELECT array_agg(v ORDER BY v) FROM unnest(x) v) AS sorted FROM a;
-- view: first_two
SELECT id, (SELECT string_agg(e, ',' ) FROM unnest(x) WITH ORDINALITY q(e, n) WHERE n <> 2) AS e, (SELECT string_agg(DISTINCT e, ',') FROM unnest(x) e) AS d, ARRAY(SELECT y || 'k' FROM unnest(x) y LIMIT 2) AS l FROM a;
