TRUNCATE price_log;
