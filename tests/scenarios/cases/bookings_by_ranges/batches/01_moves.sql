UPDATE bookings SET during = '[2026-05-03 08:00,2026-05-04 09:00)' WHERE id = 2;
UPDATE bookings SET price = '[10,20.0)' WHERE id = 2;
UPDATE bookings SET seats = '[1,3)' WHERE id IN (5, 6);
INSERT INTO bookings VALUES (8, 5, 'hal', '[2026-07-01,)', '[2026-07-01 00:00+00,)', '[1.50,2)', '[7,9]');
DELETE FROM visits WHERE room = 2 AND day IS NULL;
UPDATE rooms SET seasons = '[2026-05-03,2026-06-01)' WHERE id = 1;
