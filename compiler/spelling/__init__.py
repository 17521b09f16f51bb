"""Names and types as each engine spells them: what queries and tables must agree on."""

from __future__ import annotations

from sqlglot import exp

WORDS = """
all analyse analyze and any array as asc asymmetric at both case cast check collate column constraint create
cross current_date current_time current_timestamp cube date default deferrable delete desc describe distinct
do else end except exists extract false fetch filter for foreign from full function grant group grouping
having if in index initially inner insert intersect interval into is join key lambda lateral leading left like
limit map minus natural not null nulls of offset on only or order outer over overlaps partition pivot placing
position primary qualify range references returning right row rows schema select semi set show similar some
struct symmetric table then time timestamp to trailing trim true truncate union unique unpivot update user
using values variadic view when where window with anti asof positional summarize glob generated macro at
"""
RESERVED = frozenset(WORDS.split())


def ident(name: str) -> exp.Identifier:
    """An identifier, quoted when it is not plain."""
    plain = name.isascii() and name.replace("_", "a").isalnum() and not name[0].isdigit() and name == name.lower()
    return exp.Identifier(this=name, quoted=not plain or name in RESERVED)
