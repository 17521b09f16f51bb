UPDATE a SET d = id / 7.0 + 1, n8 = n8 * 2; DELETE FROM a WHERE id > 30;
