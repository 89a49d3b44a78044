"""Rational and enumerated ground truth for small sizes."""
