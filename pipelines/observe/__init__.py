"""What a running pipeline tells of itself: state, log, HTTP, table. `Observer` is what the loop is given."""
