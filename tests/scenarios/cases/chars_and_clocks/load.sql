INSERT INTO codes VALUES
 (1, 'ab', 'abc', 'ab ', 'ab', '{ab,"x  "}', '{"ab ",q}', '{"k": 1, "z": 2}'), (2, 'x', 'abc  ', 'x', 'ab ', '{x,NULL}', '{}', '{"a": null}'),
 (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (4, 'abcde', 'abcdefgh', 'abcde', 'abcdef', '{}', '{abcdefg,x}', '[1, "k"]'),
 (5, '', '', '', '', '{"",ab}', '{"",NULL}', '{}');
INSERT INTO seen SELECT n, CASE n % 3 WHEN 0 THEN 'ab' WHEN 1 THEN 'x' END, timestamptz '2025-10-25 22:00:30.5+00' + n * interval '20 minutes', n * interval '90 minutes'
  FROM generate_series(1, 24) n;
INSERT INTO seen SELECT n, 'ab', timestamptz '2026-03-28 23:10:00.25+00' + n * interval '20 minutes', n * interval '1 day' FROM generate_series(25, 40) n;
