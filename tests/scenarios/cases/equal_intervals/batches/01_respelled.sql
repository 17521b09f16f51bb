UPDATE d SET s='360 days' WHERE id=1;
UPDATE d SET s='1 day' WHERE id=4;
INSERT INTO d VALUES (6,'30 days',1);
UPDATE e SET s = '24:00', a = '{24:00,1 mon}' WHERE id = 1;
UPDATE w SET a = '{24:00}' WHERE n = 1;
