UPDATE t SET a = a + 3.3 WHERE id % 5 = 0; DELETE FROM t WHERE id % 7 = 2;
