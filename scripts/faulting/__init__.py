"""Fault injection: a workload on its own Postgres, Tidemark as processes, faults, and a count of what went wrong."""
