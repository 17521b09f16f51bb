-- bound once: it stands in larger expressions
CREATE MACRO pg.number_plain(t) AS
list_transform([t], lambda v: pg.number_unfolded(v))[1]
