UPDATE t SET ts = ts + interval '1 day 3 hours' WHERE id % 5 = 0; DELETE FROM t WHERE id % 7 = 2;
