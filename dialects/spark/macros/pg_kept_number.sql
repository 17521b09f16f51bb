-- The text of a numeric without a scale, as it is where it is kept as it is: with no more than twelve digits after the point.
CREATE MACRO pg_kept_number(t) AS
CASE WHEN t RLIKE '\\.\\d{12}\\d*[1-9]|[A-Za-z]' THEN RAISE_ERROR(CONCAT('numeric value ', t, ' is not kept as it is')) ELSE t END
