UPDATE f SET t='12 mons' WHERE g=1;
UPDATE f SET t='24:00' WHERE g=2;
UPDATE f SET t='120:00' WHERE g=3;
UPDATE b SET s='24:00' WHERE n=1;
UPDATE e SET s = '1 day', a = '{1 day,30 days}' WHERE id IN (1, 2, 3);
UPDATE w SET a = '{1 day}' WHERE n = 2;
