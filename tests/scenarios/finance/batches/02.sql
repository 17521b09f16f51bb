BEGIN; UPDATE bids SET price = price + 500, broker_id = (broker_id + 1) % 10 WHERE id % 4 = 0; COMMIT;
BEGIN; UPDATE asks SET volume = volume * 3 WHERE id % 5 = 0; DELETE FROM bids WHERE id % 7 = 0; COMMIT;
