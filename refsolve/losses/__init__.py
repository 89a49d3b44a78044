"""One loss per file."""
