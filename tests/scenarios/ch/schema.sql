-- TPC-C's nine tables and the three that CH-benCHmark adds.
CREATE TABLE region (r_regionkey int PRIMARY KEY, r_name text NOT NULL);
CREATE TABLE nation (n_nationkey int PRIMARY KEY, n_name text NOT NULL, n_regionkey int NOT NULL);
CREATE TABLE supplier (su_suppkey int PRIMARY KEY, su_name text NOT NULL, su_address text, su_nationkey int NOT NULL, su_phone text, su_comment text);
CREATE TABLE warehouse (w_id int PRIMARY KEY, w_name text, w_ytd numeric(12,2) NOT NULL);
CREATE TABLE district (d_w_id int, d_id int, d_name text, d_ytd numeric(12,2) NOT NULL, d_next_o_id int NOT NULL, PRIMARY KEY (d_w_id, d_id));
CREATE TABLE customer (c_w_id int, c_d_id int, c_id int, c_last text NOT NULL, c_city text, c_state char(2) NOT NULL, c_phone text NOT NULL,
    c_balance numeric(12,2) NOT NULL, c_ytd_payment numeric(12,2) NOT NULL, c_payment_cnt int NOT NULL, c_delivery_cnt int NOT NULL,
    PRIMARY KEY (c_w_id, c_d_id, c_id));
CREATE TABLE history (h_c_w_id int, h_c_d_id int, h_c_id int, h_date timestamp, h_amount numeric(6,2));
ALTER TABLE history REPLICA IDENTITY FULL;
CREATE TABLE item (i_id int PRIMARY KEY, i_name text NOT NULL, i_price numeric(5,2) NOT NULL, i_data text NOT NULL);
CREATE TABLE stock (s_w_id int, s_i_id int, s_quantity int NOT NULL, s_ytd int NOT NULL, s_order_cnt int NOT NULL, PRIMARY KEY (s_w_id, s_i_id));
CREATE TABLE orders (o_w_id int, o_d_id int, o_id int, o_c_id int NOT NULL, o_entry_d timestamp NOT NULL, o_carrier_id int, o_ol_cnt int NOT NULL,
    PRIMARY KEY (o_w_id, o_d_id, o_id));
CREATE TABLE new_order (no_w_id int, no_d_id int, no_o_id int, PRIMARY KEY (no_w_id, no_d_id, no_o_id));
CREATE TABLE order_line (ol_w_id int, ol_d_id int, ol_o_id int, ol_number int, ol_i_id int NOT NULL, ol_delivery_d timestamp,
    ol_quantity int NOT NULL, ol_amount numeric(8,2) NOT NULL, PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number));

-- The transactions of TPC-C; what they draw comes from random(), seeded by each script.
CREATE FUNCTION place_order(w int, d int, c int, at timestamp) RETURNS void LANGUAGE plpgsql AS $$
DECLARE o int; i int; q int; n int := 3 + (random() * 5)::int;
BEGIN
  UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = w AND d_id = d RETURNING d_next_o_id - 1 INTO o;
  INSERT INTO orders VALUES (w, d, o, c, at, NULL, n);
  INSERT INTO new_order VALUES (w, d, o);
  FOR k IN 1..n LOOP
    i := 1 + (random() * 99)::int; q := 1 + (random() * 9)::int;
    UPDATE stock SET s_quantity = CASE WHEN s_quantity >= q + 10 THEN s_quantity - q ELSE s_quantity - q + 91 END, s_ytd = s_ytd + q,
        s_order_cnt = s_order_cnt + 1 WHERE s_w_id = w AND s_i_id = i;
    INSERT INTO order_line SELECT w, d, o, k, i, NULL, q, q * i_price FROM item WHERE i_id = i;
  END LOOP;
END $$;
CREATE FUNCTION pay(w int, d int, c int, amount numeric, at timestamp) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE warehouse SET w_ytd = w_ytd + amount WHERE w_id = w;
  UPDATE district SET d_ytd = d_ytd + amount WHERE d_w_id = w AND d_id = d;
  UPDATE customer SET c_balance = c_balance - amount, c_ytd_payment = c_ytd_payment + amount, c_payment_cnt = c_payment_cnt + 1
    WHERE c_w_id = w AND c_d_id = d AND c_id = c;
  INSERT INTO history VALUES (w, d, c, at, amount);
END $$;
CREATE FUNCTION deliver(w int, carrier int, at timestamp) RETURNS void LANGUAGE plpgsql AS $$
DECLARE o int; c int; total numeric;
BEGIN
  FOR d IN 1..3 LOOP
    SELECT min(no_o_id) INTO o FROM new_order WHERE no_w_id = w AND no_d_id = d;
    CONTINUE WHEN o IS NULL;
    DELETE FROM new_order WHERE no_w_id = w AND no_d_id = d AND no_o_id = o;
    UPDATE orders SET o_carrier_id = carrier WHERE o_w_id = w AND o_d_id = d AND o_id = o RETURNING o_c_id INTO c;
    UPDATE order_line SET ol_delivery_d = at WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = o;
    SELECT sum(ol_amount) INTO total FROM order_line WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = o;
    UPDATE customer SET c_balance = c_balance + total, c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = w AND c_d_id = d AND c_id = c;
  END LOOP;
END $$;
