CREATE MACRO pg.json_marked(x) AS
CASE WHEN regexp_matches(x, '\.[0-9]*0[,}\]]|0\.0000|[0-9.]{16}|(?:^|[:,\[] ?)-?[0-9.]+[eE]') THEN
array_to_string(list_transform(regexp_extract_all(x,
'"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|[^"0-9-]+|-'), lambda t: CASE WHEN
regexp_matches(t, '^-?(?:[0-9]+\.[0-9]*0$|0\.0000|[0-9.]{16}|[0-9.]+[eE])') THEN '"\u0001' || t || '"' ELSE t
END), '') ELSE x END
