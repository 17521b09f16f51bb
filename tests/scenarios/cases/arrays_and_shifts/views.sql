-- view: pairs_not_in
SELECT id FROM t WHERE (iv, id % 2) NOT IN (SELECT iv, 0 FROM u WHERE iv IS NOT NULL);
-- view: pairs_with_one_not_in
SELECT id FROM t WHERE (iv, id % 2) NOT IN (SELECT iv, 1 FROM u WHERE iv IS NOT NULL);
-- view: pairs_in
SELECT id FROM t WHERE (iv, id % 3) IN (SELECT iv, 2 FROM u);
-- view: constant_interval_key
SELECT interval '1 day' AS d, x, count(*) AS n FROM t GROUP BY 1, x;
-- view: distinct_constant_interval
SELECT DISTINCT interval '1 day' AS d, 7 AS seven FROM t;
-- view: any_of_quotes
SELECT id, x FROM t WHERE x = ANY ('{O''Brien,"''q''", a b ,"null","\\"}');
-- view: unnested_any
SELECT id, y FROM t, unnest(a) y WHERE y = ANY ('{ O''Brien , "a,b", [z] , "{y}", \\ }');
-- view: literals_of_arrays
SELECT id, '{a, b c ,NULL,"d ", null}'::text[] AS s, '{ 1 , 2 }'::int[] AS n, '{2024-01-01, NULL}'::date[] AS d, '{t,f}'::bool[] AS b, '{"1 day",24:00}'::interval[] AS i, '{}'::text[] AS e, '{1.50,"2"}'::numeric(5,2)[] AS m, '{"2024-01-01 10:00", 2024-01-02}'::timestamp[] AS ts FROM t;
-- view: arrays_that_meet
SELECT id, a @> '{O''Brien}' AS c, a && '{"a,b",zz}' AS o, a = '{}' AS e, a || '{x y}'::text[] AS p FROM t;
-- view: keys_of_json
SELECT id, j ?| '{a b, zz}' AS k, j ?& '{ x }' AS l, j #> '{x,y}' AS p, j #>> '{x, y}' AS q, j ? 'null' AS n FROM t;
-- view: shifts
SELECT id, i4 >> 33 AS a, i4 >> -1 AS b, i4 << 33 AS c, i8 >> 65 AS d, i8 << 63 AS e, i2 << 16 AS f, i2 >> 20 AS g, i2 << 15 AS h, i2 << 33 AS i, i4 >> (id - 3) AS k, i8 << (id * 20) AS l, i2 >> 1 AS m FROM t;
-- view: zones
SELECT id, z AT TIME ZONE 'IST' AS a, z AT TIME ZONE 'nst' AS b, z AT TIME ZONE 'AST' AS c, z AT TIME ZONE 'ART' AS d, z AT TIME ZONE 'AEST' AS e, z AT TIME ZONE 'ndt' AS f, z AT TIME ZONE 'Z' AS g FROM t;
