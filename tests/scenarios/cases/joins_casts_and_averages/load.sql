CREATE FUNCTION h(i bigint, salt text) RETURNS bigint LANGUAGE sql IMMUTABLE AS
$$ SELECT ('x' || substr(md5(i::text || salt), 1, 7))::bit(28)::bigint $$;
INSERT INTO ward SELECT i, CASE WHEN i % 5 > 0 THEN (ARRAY['North','south','Éast','West',''])[1 + h(i,'wn') % 5] END, CASE WHEN h(i,'wf') % 5 > 0 THEN h(i,'f') % 4 - 1 END,
 CASE WHEN h(i,'ws') % 6 > 0 THEN ((ARRAY['trauma','cardio','neuro','ortho','burns'])[1 + h(i,'s') % 5])::specialty END, CASE WHEN i > 1 AND h(i,'wp') % 5 > 0 THEN 1 + h(i,'p') % (i - 1) END,
 CASE WHEN h(i,'wb') % 6 > 0 THEN h(i,'b') % 30 END, date '2000-01-01' + (h(i,'wo') % 3000)::int, CASE WHEN h(i,'wg') % 5 > 0 THEN (h(i,'g') % 9000000 - 1000000) / 1000.0 END,
 CASE h(i,'wa') % 3 WHEN 0 THEN true WHEN 1 THEN false END, CASE WHEN h(i,'wc') % 4 > 0 THEN (ARRAY['A1','B22','C','a1'])[1 + h(i,'c') % 4] END FROM generate_series(1, 12) i;
INSERT INTO patient SELECT i, CASE WHEN h(i,'pw') % 7 > 0 THEN 1 + floor(14 * power((h(i,'w') % 1000) / 1000.0, 2))::int END, CASE WHEN h(i,'pn') % 8 > 0 THEN (ARRAY['Ann','bob','Óla','Cy','dee'])[1 + h(i,'n') % 5] || ' ' || (i % 17) END,
 (ARRAY['f','m',NULL,'x'])[1 + h(i,'sx') % 4], CASE WHEN h(i,'pb') % 9 > 0 THEN date '1940-01-01' + (h(i,'b') % 28000)::int END, CASE WHEN h(i,'pg') % 6 > 0 THEN (h(i,'g') % 12000) / 100.0 END,
 CASE WHEN h(i,'ph') % 6 > 0 THEN (h(i,'he') % 256) / 16.0 END, CASE WHEN h(i,'pbl') % 6 > 0 THEN ((ARRAY['O','A','B','AB'])[1 + h(i,'bl') % 4])::blood END,
 CASE WHEN h(i,'pa') % 5 > 0 THEN (ARRAY[(h(i,'a1') % 5)::int, NULL, (h(i,'a2') % 5)::int, (h(i,'a3') % 9)::int])[1 : (h(i,'an') % 5)::int] END,
 CASE WHEN h(i,'pp') % 5 > 0 THEN jsonb_build_object('lang', (ARRAY['en','no',NULL,'pl'])[1 + h(i,'lg') % 4], 'n', h(i,'pn2') % 6, 'tags', CASE WHEN h(i,'tg') % 3 > 0 THEN to_jsonb(ARRAY[h(i,'t1') % 4, h(i,'t2') % 4]) ELSE '[]'::jsonb END, 'a', jsonb_build_object('b', h(i,'ab') % 3)) END,
 (ARRAY['blue','red','red','red',NULL,'green'])[1 + h(i,'in') % 6], CASE WHEN h(i,'pad') % 6 > 0 THEN timestamptz '2026-01-01 00:00+00' + (h(i,'ad') % 200000) * interval '1 minute' END,
 CASE WHEN h(i,'pr') % 4 > 0 THEN (md5(h(i,'r')::text))::uuid END, CASE h(i,'v') % 3 WHEN 0 THEN true WHEN 1 THEN false END FROM generate_series(1, 80) i;
INSERT INTO doctor SELECT i, 'dr ' || (ARRAY['Wu','Ek','Li','Ã'])[1 + h(i,'dn') % 4] || ' ' || i, CASE WHEN i > 1 AND h(i,'db') % 6 > 0 THEN 1 + h(i,'b') % (i - 1) END, CASE WHEN h(i,'dw') % 5 > 0 THEN 1 + h(i,'w') % 9 END,
 CASE WHEN h(i,'ds') % 6 > 0 THEN (h(i,'s') % 40 + 10) * 250.25 END, CASE WHEN h(i,'dr') % 5 > 0 THEN (h(i,'r') % 64) / 8.0 END, CASE WHEN h(i,'dh') % 7 > 0 THEN date '2010-01-01' + (h(i,'hi') % 4000)::int END,
 CASE WHEN h(i,'dg') % 6 > 0 THEN h(i,'g') % 5 END, CASE WHEN h(i,'dsh') % 5 > 0 THEN (h(i,'sh') % 12) * interval '1 hour' + (h(i,'sd') % 3) * interval '1 day' END,
 CASE WHEN h(i,'dk') % 4 > 0 THEN (ARRAY['cut','sew','talk','cut'])[(1 + h(i,'k1') % 3)::int : (1 + h(i,'k2') % 4)::int] END FROM generate_series(1, 25) i;
INSERT INTO visit SELECT p, s, CASE WHEN h(p * 10 + s,'vd') % 6 > 0 THEN 1 + h(p * 10 + s,'d') % 28 END, CASE WHEN h(p * 10 + s,'vw') % 6 > 0 THEN 1 + floor(14 * power((h(p * 10 + s,'w') % 1000) / 1000.0, 3))::int END,
 CASE WHEN h(p * 10 + s,'va') % 8 > 0 THEN timestamp '2026-02-01' + (h(p * 10 + s,'a') % 4000) * interval '90 minutes' END, CASE WHEN h(p * 10 + s,'vc') % 6 > 0 THEN (h(p * 10 + s,'c') % 200) * 2.25 END,
 CASE WHEN h(p * 10 + s,'vp') % 5 > 0 THEN (h(p * 10 + s,'p') % 2000) * 0.1125 END, CASE WHEN h(p * 10 + s,'vk') % 7 > 0 THEN (ARRAY['scan','talk','surgery','scan','scan'])[1 + h(p * 10 + s,'k') % 5] END,
 CASE h(p * 10 + s,'u') % 3 WHEN 0 THEN true WHEN 1 THEN false END, CASE WHEN h(p * 10 + s,'vl') % 5 > 0 THEN (h(p * 10 + s,'l') % 9) * interval '15 minutes' END,
 CASE WHEN h(p * 10 + s,'vn') % 4 = 0 THEN jsonb_build_array(h(p * 10 + s,'n1') % 4, 'x', NULL) WHEN h(p * 10 + s,'vn') % 4 = 1 THEN jsonb_build_object('sev', h(p * 10 + s,'n2') % 5, 'who', (ARRAY['a','b',NULL])[1 + h(p * 10 + s,'n3') % 3]) END
 FROM generate_series(1, 85) p, generate_series(1, 4) s WHERE h(p * 10 + s,'vx') % 4 > 0;
INSERT INTO med SELECT (ARRAY['asp','ibu','mor','zin'])[1 + i % 4], i / 4, CASE WHEN h(i,'mn') % 5 > 0 THEN 'med ' || h(i,'n') % 6 END, CASE WHEN h(i,'mp') % 6 > 0 THEN (h(i,'p') % 9000) / 1000.0 END,
 CASE WHEN h(i,'md') % 5 > 0 THEN (h(i,'d') % 32) / 4.0 END, CASE WHEN h(i,'me') % 5 > 0 THEN date '2026-01-01' + (h(i,'e') % 900)::int END FROM generate_series(0, 19) i;
INSERT INTO rx SELECT CASE WHEN h(i,'xp') % 9 > 0 THEN 1 + floor(88 * power((h(i,'p') % 1000) / 1000.0, 2))::int END, CASE WHEN h(i,'xs') % 9 > 0 THEN 1 + h(i,'s') % 4 END, CASE WHEN h(i,'xc') % 8 > 0 THEN (ARRAY['asp','ibu','mor','zin','???'])[1 + h(i,'c') % 5] END,
 CASE WHEN h(i,'xl') % 8 > 0 THEN h(i,'l') % 6 END, CASE WHEN h(i,'xq') % 6 > 0 THEN h(i,'q') % 5 END, CASE WHEN h(i,'xu') % 6 > 0 THEN (h(i,'u') % 40) * 0.3125 END, CASE WHEN h(i,'xg') % 7 > 0 THEN date '2026-03-01' + (h(i,'g') % 60)::int END FROM generate_series(1, 260) i;
INSERT INTO rx SELECT * FROM rx WHERE pid % 7 = 0;
INSERT INTO reading SELECT CASE WHEN h(i,'rp') % 10 > 0 THEN 1 + h(i,'p') % 40 END, CASE WHEN h(i,'rk') % 8 > 0 THEN (ARRAY['bp','hr','o2','tmp'])[1 + h(i,'k') % 4] END, CASE WHEN h(i,'rv') % 7 > 0 THEN (h(i,'v') % 640) / 16.0 - 5 END,
 CASE WHEN h(i,'ra') % 8 > 0 THEN timestamptz '2026-03-01 00:00+00' + (h(i,'a') % 2000) * interval '20 minutes' END, CASE h(i,'o') % 3 WHEN 0 THEN true WHEN 1 THEN false END,
 CASE WHEN h(i,'rr') % 4 > 0 THEN (ARRAY[(h(i,'r1') % 4)::int, (h(i,'r2') % 4)::int, NULL])[1 : (h(i,'rn') % 4)::int] END FROM generate_series(1, 200) i;
INSERT INTO reading SELECT * FROM reading WHERE pid % 5 = 0;
INSERT INTO road SELECT CASE WHEN h(i,'os') % 12 > 0 THEN 1 + h(i,'s') % 10 END, CASE WHEN h(i,'od') % 12 > 0 THEN 1 + h(i,'d') % 10 END, CASE WHEN h(i,'om') % 8 > 0 THEN h(i,'m') % 50 END, CASE WHEN h(i,'oy') % 5 > 0 THEN date '2026-01-01' + (h(i,'y') % 30)::int END FROM generate_series(1, 18) i;
INSERT INTO road SELECT * FROM road WHERE src < 4;
INSERT INTO ledger SELECT i, CASE WHEN i % 7 > 0 THEN i % 30 END, CASE WHEN i % 6 > 0 THEN (h(i,'la') % 100000000) / 100.0 END, CASE WHEN i % 5 > 0 THEN 1700000000000 + h(i,'lb') * 1000 END, CASE WHEN i % 4 > 0 THEN (ARRAY['12','abc','7','x9','3.5'])[1 + h(i,'ln') % 5] END,
 CASE WHEN i % 3 > 0 THEN ARRAY['a', NULL, 'b,c', '']  END, CASE WHEN i % 8 > 0 THEN (h(i,'lr') % 50)::real / 10 END, date '2026-01-01' + (i % 90), CASE WHEN i % 2 = 0 THEN 'v' || i % 3 END, time '00:00' + (h(i,'lt') % 1440) * interval '1 minute' FROM generate_series(1, 150) i;
