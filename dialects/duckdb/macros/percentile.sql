CREATE MACRO pg.percentile(l, p) AS
pg.percentile_at(l, p * (list_count(l) - 1))
