-- the fewest digits that tell a number from its neighbours; what lies halfway between two does not tell, for Postgres
CREATE MACRO pg.real_text(x) AS
CASE WHEN isnan(x) OR isinf(x) THEN pg.float_text(x) WHEN abs(x) < 1.1754e-38 THEN pg.float_plain(CAST(x AS
VARCHAR)) ELSE pg.real_shown(list_transform([x], lambda v: regexp_replace(CASE WHEN
pg.real_told(printf('%.5e', v), v) THEN printf('%.5e', v) WHEN pg.real_told(printf('%.6e', v), v) THEN
printf('%.6e', v) WHEN pg.real_told(printf('%.7e', v), v) THEN printf('%.7e', v) ELSE printf('%.8e', v) END,
'\.?0*e', 'e'))[1]) END
