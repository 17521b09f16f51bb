"""The warehouse compared with the source, and mended from it."""
