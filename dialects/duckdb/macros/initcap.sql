CREATE MACRO pg.initcap(x) AS
array_to_string(list_transform(regexp_extract_all(x,
'[\p{L}\p{Mc}\p{Nl}\p{Nd}]+|[^\p{L}\p{Mc}\p{Nl}\p{Nd}]+'), lambda w: pg.upper(w[1]) || lower(w[2:])), '')
