UPDATE bookings SET during = 'empty', valid = '(,)' WHERE id IN (1, 7);
UPDATE bookings SET during = '[2026-05-01,2026-05-02]', seats = NULL WHERE room = 2;
DELETE FROM bookings WHERE id = 3;
UPDATE tariffs SET days = '[2026-05-01,)' WHERE id = 4;
INSERT INTO visits VALUES (5, '2026-07-01', '2026-07-01', '2026-07-04'), (3, NULL, NULL, NULL);
UPDATE rooms SET seasons = NULL WHERE id = 5;
