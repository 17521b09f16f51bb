"""The demo, its workload, and a server for it."""
