begin;
delete from store_sales where ss_ticket_number % 11 = 3;
update store_sales set ss_quantity = ss_quantity + 7, ss_ext_sales_price = ss_ext_sales_price + 10, ss_net_profit = ss_net_profit - 5, ss_net_paid = ss_net_paid + 3 where ss_ticket_number % 7 = 2;
insert into store_sales select ss_sold_date_sk+1, ss_sold_time_sk, ss_item_sk, ss_customer_sk, ss_cdemo_sk, ss_hdemo_sk, ss_addr_sk, ss_store_sk, ss_promo_sk, ss_ticket_number+1000000, ss_quantity+1, ss_wholesale_cost, ss_list_price, ss_sales_price*1.1, ss_ext_discount_amt, ss_ext_sales_price*1.1, ss_ext_wholesale_cost, ss_ext_list_price, ss_ext_tax, ss_coupon_amt, ss_net_paid*1.1, ss_net_paid_inc_tax, ss_net_profit*1.1 from store_sales where ss_ticket_number % 13 = 5;
delete from web_sales where ws_order_number % 11 = 3;
update web_sales set ws_quantity = ws_quantity + 3, ws_ext_sales_price = ws_ext_sales_price + 10, ws_net_profit = ws_net_profit - 5 where ws_order_number % 7 = 2;
delete from catalog_sales where cs_order_number % 11 = 3;
update catalog_sales set cs_quantity = cs_quantity + 3, cs_ext_sales_price = cs_ext_sales_price + 10, cs_ship_mode_sk = (cs_ship_mode_sk % 20) + 1 where cs_order_number % 7 = 2;
commit;
