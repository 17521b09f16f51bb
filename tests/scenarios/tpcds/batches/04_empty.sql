delete from web_sales where ws_item_sk % 2 = 0;
truncate store_returns;
update date_dim set d_month_seq = d_month_seq + 1, d_year = d_year + (d_moy = 12)::int, d_moy = 1 + d_moy % 12 where d_date_sk % 50 = 1;
delete from catalog_sales;
update household_demographics set hd_dep_count = (hd_dep_count + 1) % 10, hd_vehicle_count = (hd_vehicle_count + 1) % 6 where hd_demo_sk % 5 = 2;
