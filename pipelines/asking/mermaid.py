"""Tables, states and a view as a graph."""

from __future__ import annotations

from compiler.ir.relation import Scan, State, walk
from compiler.maintain.plan import ViewPlan


def as_mermaid(plan: ViewPlan) -> str:
    """In the language of Mermaid."""
    lines = ["graph LR"]
    for s in plan.states:
        for n in walk(s.definition):
            if isinstance(n, Scan):
                lines.append(f'  t_{_id(n.table)}[("{n.table}")] --> s_{_id(s.name)}["{s.name}"]')
            elif isinstance(n, State):
                lines.append(f'  s_{_id(n.name)} --> s_{_id(s.name)}["{s.name}"]')
    for n in walk(plan.top):
        if isinstance(n, State):
            lines.append(f'  s_{_id(n.name)} --> view{{{{"{plan.view}"}}}}')
    return "\n".join(dict.fromkeys(lines))


def _id(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name)
