"""The loop: calls a candidate, lets every check that applies judge it, and keeps count."""
