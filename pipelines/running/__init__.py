"""The loop, and what it answers while it runs."""
