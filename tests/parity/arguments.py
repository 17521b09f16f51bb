"""Edge values of every type, and tables of arguments made of them."""

from __future__ import annotations

import itertools
import random

ROWS = 60  # of a table of arguments, at most; every value is in one of them

# Name in the lists of expressions -> (Postgres type, values as Postgres reads them; None is NULL).
EDGES: dict[str, tuple[str, list[str | None]]] = {
    "text": ("text", [None, "", " ", "a", "A", "abc", "abcabc", "ABC", "b", "z", "a b c", "  ab  ", "Straße", "ÀÉî", "日本語", "😀x", "a%b_c",
                      "a\\b", "o'clock", '"q"', "a1b22", "123", "tab\there", "line\nbreak", "x-y,z", "don't STOP me now", "\\1", "[a].*"]),
    "small": ("int4", [None, "-2", "-1", "0", "1", "2", "3", "12"]),
    "bpchar": ("char(5)", [None, "", "a", "ab", "ab c", "abcde", "é", "X"]),
    "varchar": ("varchar(10)", [None, "", "a", "abc", "abc ", "Z"]),
    "uuid": ("uuid", [None, "00000000-0000-0000-0000-000000000000", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
                      "ffffffff-ffff-ffff-ffff-ffffffffffff", "7fffffff-0000-4000-8000-000000000001"]),
    "bytea": ("bytea", [None, "\\x", "\\x00", "\\x00ff", "\\x616263", "\\x5c27", "\\xdeadbeef", "\\x01020304050607", "\\xc3a9"]),
    "bool": ("bool", [None, "t", "f"]),
    "int2": ("int2", [None, "-32768", "-7", "-1", "0", "1", "2", "181", "32767"]),
    "int4": ("int4", [None, "-2147483648", "-1000", "-7", "-1", "0", "1", "2", "3", "7", "12", "100", "9999", "1234567", "2147483647"]),
    "int8": ("int8", [None, "-9223372036854775808", "-3", "0", "1", "255", "1577836800", "9007199254740992", "9007199254740993",
                      "9223372036854775807"]),
    "numeric(12,4)": ("numeric(12,4)", [None, "-99999999.9999", "-2.5", "-1.5", "-0.5", "-0.0001", "0", "0.0001", "0.05", "0.5", "1", "1.5",
                                        "2.5", "7", "123.4560", "1000.0050", "99999999.9999"]),
    "numeric(8,2)": ("numeric(8,2)", [None, "-2.50", "-0.01", "0", "0.01", "0.05", "1.005", "2.50", "3", "7.77", "999999.99"]),
    "numeric": ("numeric", [None, "-12.5", "0", "1", "1.50", "0.005", "2.675", "123456789.123456", "1000000000000"]),
    "float8": ("float8", [None, "NaN", "Infinity", "-Infinity", "-0", "0", "1e-10", "0.1", "0.5", "-0.5", "1.5", "2.5", "-2.5", "3", "45", "-7.25",
                          "123456.789", "1e15", "1e16", "1.7976931348623157e308", "5e-324"]),
    "float4": ("float4", [None, "NaN", "Infinity", "-1.5", "0", "0.1", "0.3333333", "2.5", "16777216", "123456.7", "3.4e38", "1e-20"]),
    "digits": ("text", [None, "", "0", "1", " 7 ", "-12", "+3", "1.5", "2.675", "1e3", "NaN", "true", "off", "2020-02-29", "1 day", "1,234.50", "x"]),
    "date": ("date", [None, "0001-01-01", "1582-10-15", "1899-12-31", "1969-12-31", "1970-01-01", "1999-12-31", "2000-01-01", "2000-02-29",
                      "2001-01-01", "2020-02-29", "2020-12-31", "2021-01-03", "2024-03-31", "2026-11-21", "9999-12-31"]),
    "timestamp": ("timestamp", [None, "0001-01-01 00:00:00", "1899-12-31 23:59:59.999999", "1969-12-31 23:59:59.5", "1970-01-01 00:00:00",
                                "2000-02-29 12:00:00", "2020-02-29 12:34:56.789012", "2020-03-29 02:30:00", "2020-10-25 02:30:00",
                                "2020-12-31 23:59:59.9999", "2021-01-03 00:00:00.5", "2024-11-03 01:30:00", "2026-11-21 09:05:06.000001",
                                "9999-12-31 23:59:59"]),
    "timestamptz": ("timestamptz", [None, "1899-12-31 23:59:59+00", "1970-01-01 00:00:00+00", "2000-01-01 00:00:00+14",
                                    "2020-02-29 12:34:56.789012+00",
                                    "2020-03-29 01:00:00+00", "2020-10-25 00:30:00+00", "2020-10-25 01:30:00+00", "2020-12-31 23:59:59.5-08",
                                    "2024-03-10 07:00:00+00", "2026-11-21 22:30:00+00"]),
    "time": ("time", [None, "00:00:00", "00:00:00.000001", "08:30:00", "12:00:00", "13:45:56.789", "23:59:59.999999", "24:00:00"]),
    "interval": ("interval", [None, "0", "1 day", "24 hours", "-1 day", "1 mon", "30 days", "-1 mon +2 days", "1 year 2 mons 3 days 04:05:06.789",
                              "-04:05:06.5", "00:00:00.000001", "36:00:00", "1 year", "-2 years -3 mons", "100 hours 90 minutes", "15 mons 40 days"]),
    "stamps": ("text", [None, "2020-02-29", "2020-02-29 12:34:56", "1999-12-31 23:59:59", "2020-01-01T10:00:00", "2020-02-29 12:34:56.789",
                        "2020-06-01 12:00:00+02", "20200229", "nope"]),
    "jsonb": ("jsonb", [None, "null", "1", "1.0", "1.50", "-0.5", "true", '"x"', '"k"', '""', "[]", "{}", "[1]", "[1, 2, 3]", "[3, [1], null]",
                        '["a", "k"]', '{"k": 1}', '{"k": 1.0}', '{"k": null}', '{"k": {"b": 2}}', '{"k": [1, 2], "n": 2.50, "f": true}',
                        '{"n": 12, "k": "v", "z": {"a": [{}, []]}}', '{"b": 1, "aa": 2, "k": "é\\n\\"q\\""}', '{"n": 1e3, "f": false, "k": ""}']),
    "json": ("json", [None, "null", "1", '"x"', "[1, 2]",
                      '{"k": 1, "k": 2}', '{"k" : {"b" : 2},  "n": 2.50}', '{"n": 7, "k": "v"}', '{"k": null}', "[]"]),
    "int4[]": ("int4[]", [None, "{}", "{1}", "{1,2}", "{2,1}", "{1,2,3}", "{1,NULL,2}", "{NULL}", "{1,1,2,9}", "{10,9}"]),
    "text[]": ("text[]", [None, "{}", "{a}", "{a,b}", '{b,a,"c d"}', "{NULL,b}", '{"","x,y"}', '{"q\\"t",NULL}', '{"NULL"}', "{ab,B}"]),
}


def arguments(kinds: tuple[str, ...]) -> list[tuple[str | None, ...]]:
    """Rows of arguments: all combinations where they are few, else a sample in which every value occurs."""
    lists = [EDGES[k][1] for k in kinds]
    every = list(itertools.product(*lists))
    if len(every) <= ROWS:
        return every
    chance = random.Random(repr(kinds))
    longest = max(map(len, lists))
    shuffled = [chance.sample(x, len(x)) for x in lists]
    covering = [tuple(x[i % len(x)] for x in shuffled) for i in range(longest)]
    return list(dict.fromkeys(covering + chance.sample(every, ROWS - longest)))


def source_type(kind: str) -> str:
    return EDGES[kind][0]
