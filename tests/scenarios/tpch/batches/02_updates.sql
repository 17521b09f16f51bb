UPDATE lineitem SET l_quantity = l_quantity % 50 + 1, l_discount = 0.06, l_suppkey = l_suppkey % 100 + 1 WHERE l_orderkey % 13 = 0;
UPDATE orders SET o_custkey = o_custkey % 1500 + 1, o_orderpriority = '1-URGENT' WHERE o_orderkey % 17 = 0;
UPDATE partsupp SET ps_supplycost = ps_supplycost * 0.9 WHERE ps_partkey % 11 = 0;
UPDATE part SET p_size = 15, p_type = 'PROMO BRUSHED BRASS', p_brand = 'Brand#12' WHERE p_partkey % 19 = 0;
UPDATE supplier SET s_nationkey = 7, s_comment = 'Customer many Complaints' WHERE s_suppkey % 23 = 0;
UPDATE customer SET c_mktsegment = 'BUILDING', c_acctbal = c_acctbal + 1000 WHERE c_custkey % 29 = 0;
UPDATE nation SET n_regionkey = 3 WHERE n_nationkey IN (8, 12);
UPDATE region SET r_comment = 'changed';
