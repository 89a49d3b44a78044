"""Measurements: the papers' tables on real data, and speed against what a user would pick instead."""
