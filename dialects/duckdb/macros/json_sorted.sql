CREATE MACRO pg.json_sorted(l) AS
list_transform(list_sort(list_transform(list_distinct(l), lambda k: {'n': strlen(k), 'k': k})), lambda v:
v['k'])
