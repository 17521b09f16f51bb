DELETE FROM nums WHERE id % 3 = 0; UPDATE codes SET c = NULL WHERE kind = 1; DELETE FROM names WHERE kind = 0; UPDATE names SET t = v WHERE kind = 2;
