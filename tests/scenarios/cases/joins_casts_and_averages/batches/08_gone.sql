DELETE FROM visit; DELETE FROM reading WHERE pid IS NOT NULL; DELETE FROM rx; UPDATE patient SET ward_id = NULL, weight = 1; DELETE FROM ward WHERE id > 1; TRUNCATE road, audit;
