UPDATE s SET v = reverse(v) WHERE id % 3 = 0;
