BEGIN;
DELETE FROM lineitem WHERE l_orderkey % 7 = 0; DELETE FROM orders WHERE o_orderkey % 7 = 0;
DELETE FROM partsupp WHERE ps_partkey % 5 = 0; DELETE FROM customer WHERE c_custkey % 31 = 0;
DELETE FROM supplier WHERE s_suppkey % 37 = 0; DELETE FROM part WHERE p_partkey % 41 = 0;
DELETE FROM nation WHERE n_nationkey = 24;
COMMIT;
