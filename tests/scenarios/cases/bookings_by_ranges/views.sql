-- view: bounds
SELECT id, lower(during) AS begins, upper(during) AS ends, upper(during) - lower(during) AS takes, isempty(valid) AS none, upper_inf(valid) AS open, lower_inc(price) AS held FROM bookings;
-- view: clashes
SELECT a.id AS one, b.id AS other, lower(a.during * b.during) AS begins, upper(a.during * b.during) AS ends FROM bookings a JOIN bookings b ON a.room = b.room AND a.id < b.id AND a.during && b.during;
-- view: at_the_time
SELECT v.room, v.at, count(b.id) AS n, min(b.guest) AS guest FROM visits v LEFT JOIN bookings b ON b.room = v.room AND b.during @> v.at GROUP BY v.room, v.at;
-- view: in_season
SELECT r.name, v.day FROM rooms r JOIN visits v ON v.room = r.id WHERE r.seasons @> v.day;
-- view: out_of_season
SELECT r.name, count(*) AS n FROM rooms r JOIN visits v ON NOT r.seasons @> v.day GROUP BY r.name;
-- view: stays
SELECT v.room, t.id, t.price * (upper(t.days * daterange(v.day, v.until, '[]')) - lower(t.days * daterange(v.day, v.until, '[]'))) AS due FROM visits v JOIN tariffs t ON t.days && daterange(v.day, v.until, '[]');
-- view: priced
SELECT b.id, t.price FROM bookings b JOIN tariffs t ON t.seats = b.seats;
-- view: same_price
SELECT a.id, b.id AS other FROM bookings a JOIN bookings b ON a.price = b.price;
-- view: no_such_price
SELECT id FROM bookings WHERE price IS DISTINCT FROM '[10,20)';
-- view: by_seats
SELECT seats, count(*) AS n, sum(upper(seats)) AS top FROM bookings GROUP BY seats;
-- view: each_time
SELECT DISTINCT valid FROM bookings;
-- view: beside
SELECT a.id, b.id AS other, a.during -|- b.during AS next, a.during << b.during AS before, a.valid &< b.valid AS ends, a.valid &> b.valid AS begins, a.during <@ b.during AS within FROM bookings a CROSS JOIN bookings b;
-- view: made
SELECT room, at, tsrange(at, at + interval '2 hours') AS during, daterange(day, NULL, '()') AS after, int4range(room, room + 1, '[]') AS rooms FROM visits;
-- view: written
SELECT id, coalesce(seats, '[1, 4]') AS seats, coalesce(during, '(2026-01-01, 2026-02-01 12:30]') AS during FROM bookings WHERE seats && '[0,9)' OR seats IS NULL;
-- view: longest
SELECT id, takes FROM (SELECT id, upper(during) - lower(during) AS takes FROM bookings) x WHERE takes IS NOT NULL ORDER BY takes DESC, id LIMIT 2;
-- view: free_rooms
SELECT r.id, r.name FROM rooms r WHERE NOT EXISTS (SELECT 1 FROM bookings b WHERE b.room = r.id AND b.during && '[2026-05-02 12:00,2026-05-03 12:00)');
-- view: ranked
SELECT id, room, row_number() OVER (PARTITION BY room ORDER BY lower(during) NULLS FIRST, id) AS place FROM bookings;
