"""Functions as Postgres' catalog has them: their arguments, results and volatility, as tables."""
