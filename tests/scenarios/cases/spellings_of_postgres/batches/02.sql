DELETE FROM a WHERE x = 2; DELETE FROM b WHERE id < 5; UPDATE a SET md = 'sad', ia = '{7,8}', j = '{"k": 1.50}' WHERE id = 1;
