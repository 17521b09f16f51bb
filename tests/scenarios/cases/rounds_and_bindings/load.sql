INSERT INTO emp SELECT g, CASE WHEN g > 3 THEN g / 3 END, 1000 + g * 37 % 400, 'n' || g % 5 FROM generate_series(1, 40) s(g);
INSERT INTO ord SELECT g, g % 7, timestamptz '2025-01-01 00:00+00' + g * interval '17 hours', g * 3.5 % 60 FROM generate_series(1, 80) s(g);
INSERT INTO line SELECT o, n, nullif((o * 7 + n * 13) % 23, 5), (o + n) * 0.5 FROM generate_series(1, 80) a(o), generate_series(1, 4) b(n);
