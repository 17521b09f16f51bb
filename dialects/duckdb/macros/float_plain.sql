CREATE MACRO pg.float_plain(t) AS
regexp_replace(t, '\.0($|e)', '\1')
