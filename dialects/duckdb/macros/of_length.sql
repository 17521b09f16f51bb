CREATE MACRO pg.of_length(l, n) AS
list_filter(l, lambda i: pg.span(i) = n)[1]
