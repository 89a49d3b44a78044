"""Lapin, Hein, Schiele: Loss Functions for Top-k Error, CVPR 2016 (numbers as in that version)."""

from verification.paper_statements._record import statements

stated = statements(__name__)
