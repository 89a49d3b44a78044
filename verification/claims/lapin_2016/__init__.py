"""Lapin, Hein, Schiele: Loss Functions for Top-k Error, CVPR 2016 (numbers as in that version)."""

TITLE = "Lapin, Hein, Schiele: Loss Functions for Top-k Error (CVPR 2016)"
