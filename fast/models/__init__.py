"""Training algorithms, one model per file."""
