"""Fault injection: a workload on a Postgres of its own, Tidemark as processes, faults, and a count of what went wrong."""
