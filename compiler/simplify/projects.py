"""π over π is one π, when no expression would be computed twice."""

from __future__ import annotations

from compiler.ir.relation import Project, Relation, transform
from compiler.ir.scalar import Col, Lit, Scalar, substitute, walk


def fuse_projects(r: Relation) -> Relation:
    return transform(r, _node)


def _node(n: Relation) -> Relation:
    while isinstance(n, Project) and isinstance(n.input, Project):
        inner = dict(n.input.exprs)
        uses: dict[str, int] = {}
        for _, e in n.exprs:
            for x in walk(e):
                if isinstance(x, Col):
                    uses[x.name] = uses.get(x.name, 0) + 1
        if any(c > 1 and not _cheap(inner[k]) for k, c in uses.items()):
            return n
        n = Project(n.input.input, tuple((k, substitute(e, inner)) for k, e in n.exprs))
    if (
        isinstance(n, Project)
        and n.names == n.input.names
        and all(isinstance(e, Col) and e.name == k for k, e in n.exprs)
    ):
        return n.input
    return n


def _cheap(e: Scalar) -> bool:
    return isinstance(e, Col | Lit)
