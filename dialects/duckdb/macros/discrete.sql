-- in doubles, as Postgres counts
CREATE MACRO pg.discrete(l, p) AS
l[greatest(CAST(ceil(CAST(p AS DOUBLE) * list_count(l)) AS BIGINT), 1)]
