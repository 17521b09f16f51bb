update item set i_category = (array['Women','Men','Sports','Books','Music','Home','Electronics','Jewelry','Shoes','Children'])[1 + i_item_sk % 10], i_current_price = i_current_price * 1.05 where i_item_sk % 5 = 1;
update customer_address set ca_state = (array['TX','OH','KY','VA','NM','GA','CA','WA','IL','TN'])[1 + ca_address_sk % 10], ca_country = 'United States', ca_gmt_offset = -5 where ca_address_sk % 4 = 0;
update customer set c_current_addr_sk = 1 + (c_current_addr_sk * 7) % 500, c_birth_month = 1 + c_customer_sk % 12, c_preferred_cust_flag = 'Y' where c_customer_sk % 3 = 0;
delete from customer where c_customer_sk % 29 = 4;
update date_dim set d_day_name = d_day_name where d_date_sk % 1000 = 1;
update customer_demographics set cd_gender = case cd_gender when 'M' then 'F' else 'M' end where cd_demo_sk % 9 = 1;
update store set s_state = 'TN', s_county = 'Williamson County', s_gmt_offset = -5;
update web_sales set ws_ship_addr_sk = ws_bill_addr_sk, ws_bill_customer_sk = ws_ship_customer_sk where ws_item_sk % 5 = 1;
