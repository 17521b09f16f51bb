BEGIN;
INSERT INTO orders SELECT o_orderkey + 1000000, (o_custkey * 7) % 1500 + 1, o_orderstatus, o_totalprice + 100, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment FROM orders WHERE o_orderkey % 50 = 1;
INSERT INTO lineitem SELECT l_orderkey + 1000000, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment FROM lineitem WHERE l_orderkey % 50 = 1;
INSERT INTO customer SELECT c_custkey + 10000, c_name, c_address, c_nationkey, c_phone, c_acctbal * 2, c_mktsegment, c_comment FROM customer WHERE c_custkey % 20 = 0;
INSERT INTO supplier SELECT s_suppkey + 1000, s_name, s_address, (s_nationkey + 1) % 25, s_phone, s_acctbal, s_comment FROM supplier WHERE s_suppkey % 10 = 0;
INSERT INTO partsupp SELECT ps_partkey, ps_suppkey + 1000, ps_availqty + 5000, ps_supplycost / 2, ps_comment FROM partsupp WHERE ps_suppkey % 10 = 0;
COMMIT;
