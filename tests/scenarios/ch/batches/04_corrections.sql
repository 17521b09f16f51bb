DELETE FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 2 AND ol_o_id IN (3, 4);
DELETE FROM orders WHERE o_w_id = 1 AND o_d_id = 2 AND o_id IN (3, 4);
UPDATE customer SET c_state = 'AZ', c_phone = '1' || c_phone WHERE c_id % 6 = 0;
UPDATE supplier SET su_nationkey = 65, su_comment = 'bad supplier' WHERE su_suppkey % 9 = 0;
UPDATE order_line SET ol_quantity = ol_quantity + 2, ol_amount = ol_amount * 1.5 WHERE ol_i_id % 7 = 0;
UPDATE nation SET n_regionkey = 1 + n_regionkey % 3 WHERE n_nationkey < 70;
