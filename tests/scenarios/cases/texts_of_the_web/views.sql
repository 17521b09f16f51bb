-- view: printable
SELECT id, regexp_replace(v, '[^[:print:]]', '', 'g') AS p, v ~ '^[[:print:]]+$' AS q, regexp_replace(v, '[^[:graph:]]+', '_', 'g') AS g FROM s;
-- view: punctuation
SELECT id, regexp_replace(v, '[[:punct:]]', '', 'g') AS p, regexp_replace(v, '[^[:alnum:]]', '', 'g') AS a, v ~ '^\w+$' AS w, regexp_replace(v, '\W+', '-', 'g') AS d FROM s WHERE id <> 18;
-- view: spaces
SELECT id, regexp_replace(v, '\s+', '|', 'g') AS p, regexp_replace(v, '[[:space:]x]', '|', 'g') AS q, v ~ '\S\s\S' AS t, regexp_replace(v, '[\s,]+', '.', 'g') AS c FROM s;
-- view: capitals
SELECT id, initcap(v) AS i FROM s WHERE id <> 18;
-- view: escaped
SELECT id, to_json(v)::text AS t, to_jsonb(v)::text AS b, json_build_object('v', v)::text AS o, to_jsonb(v)::text = '"\u001f"' AS same FROM s;
-- view: parts_escaped
SELECT id, j::text AS t, (j->0)::text AS e, (j || '{"z": 1}'::jsonb)::text AS c, (SELECT string_agg(k || '=' || w::text, ',' ORDER BY k) FROM jsonb_each(CASE jsonb_typeof(j) WHEN 'object' THEN j ELSE '{}' END) AS x(k, w)) AS m FROM s;
-- view: lazy
SELECT id, substring(v from '"(.*?)"') AS a, substring(v from 'a.*?b') AS b, regexp_replace(v, '<.*?>', '', 'g') AS t, substring(v from '^\s*(.*?)\s*$') AS w FROM s;
-- view: greedy
SELECT id, substring(v from '^https?://([^/]*)/') AS a, (regexp_match(v, '(\w+)="([^"]*)"'))[2] AS m FROM s;
