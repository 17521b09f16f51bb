-- The text of a numeric without a scale, as it is where it is kept as it is: with no more than twelve digits after the point.
CREATE MACRO pg.kept_number(t) AS
CASE WHEN REGEXP_MATCHES(t, '\.\d{12}\d*[1-9]|[A-Za-z]') THEN ERROR('numeric value ' || t || ' is not kept as it is') ELSE t END
