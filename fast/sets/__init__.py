"""Projections, one set per file."""
