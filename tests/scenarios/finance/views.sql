-- view: vwap
SELECT sum(b1.price * b1.volume) AS vwap
FROM bids b1
WHERE 0.25 * (SELECT sum(b3.volume) FROM bids b3) > (SELECT coalesce(sum(b2.volume), 0) FROM bids b2 WHERE b2.price > b1.price);

-- view: axfinder
SELECT b.broker_id, sum(a.volume - b.volume) AS axfinder
FROM bids b, asks a
WHERE b.broker_id = a.broker_id
  AND (a.price - b.price > 1000 OR b.price - a.price > 1000)
GROUP BY b.broker_id;

-- view: brokerspread
SELECT a.broker_id, sum(a.volume * a.price - b.volume * b.price) AS spread
FROM bids b, asks a
WHERE a.broker_id = b.broker_id
GROUP BY a.broker_id;

-- view: pricespread
SELECT sum(a.price - b.price) AS psp
FROM bids b, asks a
WHERE b.volume > 0.0001 * (SELECT sum(b1.volume) FROM bids b1)
  AND a.volume > 0.0001 * (SELECT sum(a1.volume) FROM asks a1);

-- view: missedtrades
SELECT b.broker_id, sum(a.price * a.volume - b.price * b.volume) AS missed
FROM bids b, asks a
WHERE 0.25 * (SELECT sum(a1.volume) FROM asks a1) > (SELECT coalesce(sum(a2.volume), 0) FROM asks a2 WHERE a2.price > a.price)
  AND 0.25 * (SELECT sum(b1.volume) FROM bids b1) > (SELECT coalesce(sum(b2.volume), 0) FROM bids b2 WHERE b2.price > b.price)
GROUP BY b.broker_id;
