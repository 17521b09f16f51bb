UPDATE t SET c = 'ab' WHERE id = 2; UPDATE u SET c = 'x' WHERE id = 4; INSERT INTO t VALUES (6,NULL,'no',NULL,NULL,'none ')
