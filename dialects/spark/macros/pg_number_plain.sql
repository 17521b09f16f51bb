CREATE MACRO pg_number_plain(t) AS
CASE WHEN t LIKE '%e%' THEN CONCAT(CASE WHEN t LIKE '-%' THEN '-' ELSE '' END,
pg_plain_of(REPLACE(SPLIT_PART(LTRIM('-', t), 'e', 1), '.', ''), CAST(SPLIT_PART(t, 'e', 2) AS INT))) ELSE t
END
