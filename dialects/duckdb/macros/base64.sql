CREATE MACRO pg.base64(b) AS
rtrim(regexp_replace(to_base64(b), '(.{76})', '\1' || chr(10), 'g'), chr(10))
