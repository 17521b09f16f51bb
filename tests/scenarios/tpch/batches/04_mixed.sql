BEGIN;
UPDATE orders SET o_orderdate = o_orderdate + 30 WHERE o_orderkey % 10 = 3;
UPDATE lineitem SET l_shipdate = l_shipdate + 45, l_receiptdate = l_receiptdate + 60, l_shipmode = 'MAIL' WHERE l_orderkey % 10 = 3;
INSERT INTO lineitem SELECT l_orderkey, l_partkey, l_suppkey, l_linenumber + 10, 1, l_extendedprice, l_discount, l_tax, 'R', l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment FROM lineitem WHERE l_orderkey % 20 = 1;
DELETE FROM orders WHERE o_orderkey % 20 = 5;
UPDATE region SET r_name = 'ASIA' WHERE r_regionkey = 4; 
COMMIT;
