INSERT INTO s VALUES (1, 'http://a.com/b/c', '{"k": 1}'), (2, 'user: Bob, id: 1234, x', NULL), (3, 'name="x" alt="y"', '{"\u001f": "a\u001fb\\u001Fc\n"}'),
 (4, '2024-01-31T10:00', '["\u000b", "\u000eé"]'), (5, 'Grüße, Ångström', '"\u001b"'), (6, '“Café” – 5 €!', '{}'), (7, '½lb 10m²b x½y', NULL), (8, '²', NULL),
 (9, 'straße ß', NULL), (10, 'İstanbul ısı', NULL), (11, E'a\x1fb\x0b\x0e\\u001F\x1a', NULL), (12, E'a\u00a0b\u3000c\u2003d\x0be  f', NULL), (13, 'ǆ ǅ fOO_bar-BAZ', NULL),
 (14, '<b>x</b> <i>y</i>', NULL), (15, '', NULL), (16, NULL, NULL), (17, 'a,b ,c', NULL), (18, 'Ⅷ ⅷ 5٣ संपत्ति', NULL);
