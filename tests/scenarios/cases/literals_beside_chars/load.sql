INSERT INTO t VALUES (1,'ab','ab','ab','ab','ab'),(2,'it''s','x','q','ab ','ab '),(3,NULL,NULL,NULL,NULL,NULL),(4,'none',NULL,'none','none','none'),(5,'','','','','');
INSERT INTO u VALUES (1,'ab',1),(2,'none',2),(3,NULL,3),(4,'zz',4);
