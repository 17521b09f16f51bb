"""Views that may lag: when they take what waits for them."""
