UPDATE t SET c = NULL WHERE id = 1; DELETE FROM u WHERE id = 2; UPDATE t SET d = 'ab' WHERE id = 6; INSERT INTO t VALUES (7,'none','n','none','none','none')
