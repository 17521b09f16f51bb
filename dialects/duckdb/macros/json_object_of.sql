CREATE MACRO pg.json_object_of(l, a, b) AS
'{' || coalesce(array_to_string(list_transform(l, lambda k: pg.json_quoted(k) || ': ' ||
coalesce(pg.json_at(b, pg.json_key(k)), pg.json_at(a, pg.json_key(k)))), ', '), '') || '}'
