"""Postgres' text forms of values, read and printed: intervals, timestamps, arrays, JSON."""
