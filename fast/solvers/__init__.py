"""Machinery shared by the training algorithms."""
