"""What Tidemark costs and saves: refresh against recompute, capture, and latency from commit to view."""
