INSERT INTO w VALUES (300, NULL, 'r'), (301, 300, 's'), (302, 301, 't'); UPDATE w SET name = name || '!' WHERE k < 5;
