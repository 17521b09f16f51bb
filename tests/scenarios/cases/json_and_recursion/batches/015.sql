INSERT INTO w SELECT i, i - 47, 'm' || i FROM generate_series(50, 70) i;
INSERT INTO w VALUES (200, 201, 'c'), (201, 200, 'd');
