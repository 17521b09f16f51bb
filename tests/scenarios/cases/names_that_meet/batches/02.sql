UPDATE price_log SET price = old_price, old_price = price, v = v - 1 WHERE id % 3 = 0;
DELETE FROM price_log WHERE v > 12;
