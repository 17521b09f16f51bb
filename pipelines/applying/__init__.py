"""Changes to the engines: captured, applied in batches, frontiers moved, and the source watched meanwhile."""
