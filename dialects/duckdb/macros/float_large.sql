CREATE MACRO pg.float_large(x) AS
list_transform([x], lambda v: regexp_replace(CASE WHEN pg.float_told(printf('%.14e', v), v) THEN
printf('%.14e', v) WHEN pg.float_told(printf('%.15e', v), v) THEN printf('%.15e', v) ELSE printf('%.16e', v)
END, '\.?0*e', 'e'))[1]
