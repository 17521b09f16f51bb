INSERT INTO price_log SELECT g, g % 3, g % 2, g % 2, g % 2, 'c' || g % 3, g, timestamp '2024-01-01' + g * interval '1 hour', g % 4, g % 5, g % 2 FROM generate_series(1, 20) g;
