UPDATE t SET iv = '22:00', m = '{zen,sad}' WHERE iv = '1 day -02:00';
DELETE FROM u WHERE id < 3;
INSERT INTO t VALUES (40, 1, 2, '2024-01-01', '2024-01-03 01:00', '3 days -30:00', '{ok,NULL}', '{"*": null, "zz": 1}');
