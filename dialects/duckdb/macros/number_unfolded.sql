CREATE MACRO pg.number_unfolded(t) AS
CASE WHEN contains(t, 'e') THEN CASE WHEN t LIKE '-%' THEN '-' ELSE '' END ||
pg.plain_of(replace(split_part(ltrim(t, '-'), 'e', 1), '.', ''), CAST(replace(split_part(t, 'e', 2), '+', '')
AS INTEGER)) ELSE t END
