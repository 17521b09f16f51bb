-- view: deviations
SELECT g, stddev_pop(b) AS p, stddev(b) AS s, count(*) AS n FROM t GROUP BY g;
-- view: deviation_of_all
SELECT stddev_pop(b) AS p, stddev_samp(b) AS s, avg(i) AS a, variance(i) AS v FROM t;
-- view: variances_of_near_values
SELECT g, var_pop(b) AS p, var_samp(b) AS s FROM t WHERE g IN (2, 3, 5) GROUP BY g;
-- view: chosen_ones
SELECT g, stddev_pop(b) FILTER (WHERE i > 0) AS p FROM t GROUP BY g;
