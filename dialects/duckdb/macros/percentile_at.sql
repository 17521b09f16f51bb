CREATE MACRO pg.percentile_at(l, i) AS
CASE WHEN list_count(l) = 0 THEN NULL WHEN floor(i) = ceil(i) THEN l[CAST(i AS BIGINT) + 1] ELSE
l[CAST(floor(i) AS BIGINT) + 1] + (i - floor(i)) * (l[CAST(ceil(i) AS BIGINT) + 1] - l[CAST(floor(i) AS BIGINT) + 1])
END
