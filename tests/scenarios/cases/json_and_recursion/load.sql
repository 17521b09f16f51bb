INSERT INTO o SELECT i, i%7, (ARRAY['Oslo','Łódź','a "q"',NULL])[1+i%4], i*1.25, i/3.0, '2025-01-01'::timestamptz + i*interval '7 hours', '2025-01-01'::timestamp + i*interval '1 hour', '2025-01-01'::date+i, i%2=0, jsonb_build_object('n', i, 'z', 'x'), ARRAY['a','b'] FROM generate_series(1,60) i;
INSERT INTO w SELECT i, nullif(i/2,0), 'n'||i FROM generate_series(1,30) i;
