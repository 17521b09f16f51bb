CREATE MACRO pg.exact_real(x) AS
printf('%.6g', x)
