INSERT INTO a SELECT i, nullif(i % 9, 4), chr(97 + i % 5), CASE WHEN i % 3 > 0 THEN ARRAY[i % 4, i % 7, NULL] END FROM generate_series(1, 60) i;
INSERT INTO p SELECT i, nullif(i % 6, 5) FROM generate_series(1, 40) i;
INSERT INTO q SELECT i % 8, nullif(i % 5, 0) FROM generate_series(1, 30) i;
