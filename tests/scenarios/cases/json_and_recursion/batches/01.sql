INSERT INTO o SELECT i, i%5, 'new', i*0.75, 1, now() - i*interval '1 day', now(), current_date, true, '{}', '{}' FROM generate_series(100,120) i;
UPDATE o SET amount = amount + 100 WHERE id % 9 = 0; DELETE FROM o WHERE id % 11 = 0;
INSERT INTO w VALUES (40, 3, 'x'), (41, 40, 'y'); UPDATE w SET up = 2 WHERE k = 3;
