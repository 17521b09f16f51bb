"""How a view is maintained: what is kept for it, how that takes its change, and the program of a batch."""
