CREATE MACRO pg.quotient_digits(n, d, r) AS
list_transform([list_reduce(list_transform(range(r // 4 + 2), lambda i: {'q': n // d, 'r': n % d, 'm': CASE
WHEN i <= r // 4 THEN 10000 ELSE pg.tens(r % 4) END}), lambda p, i: {'q': p['q'] * i['m'] + p['r'] * i['m'] //
d, 'r': p['r'] * i['m'] % d, 'm': p['m']})], lambda p: p['q'] + CASE WHEN p['r'] * 2 >= d THEN 1 ELSE 0
END)[1]
