SELECT setseed(0.42);
INSERT INTO n SELECT i, i % 11, (random()-0.5) * 10 ^ (random() * 14 - 3)::int, ((random()-0.4) * 10 ^ (random()*8-2)::int)::numeric(12,2) , (random()-0.3) * 10 ^ (random()*9)::int,
 (random()-0.3) * 10 ^ (random()*18)::int, ((random()-0.5) * 10 ^ (random()*20-8)::int)::numeric(30,9), (random() * 100)::int, random()::numeric * 0.9 FROM generate_series(1, 2000) i;
UPDATE n SET b = NULL WHERE b = 0; UPDATE n SET c = NULL WHERE c = 0; UPDATE n SET d = 7 WHERE d = 0; UPDATE n SET f = 3 WHERE f = 0; UPDATE n SET h = 0.000123 WHERE h = 0; UPDATE n SET e = 0.5 WHERE e = 0; UPDATE n SET a = 0 WHERE id % 50 = 0;
