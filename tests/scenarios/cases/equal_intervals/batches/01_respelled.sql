UPDATE d SET s='360 days' WHERE id=1;
UPDATE d SET s='1 day' WHERE id=4;
INSERT INTO d VALUES (6,'30 days',1);
