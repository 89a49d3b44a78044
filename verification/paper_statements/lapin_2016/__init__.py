"""Lapin, Hein, Schiele: Loss Functions for Top-k Error, CVPR 2016 (numbers as in that version)."""

TITLE = "Lapin, Hein, Schiele: Loss Functions for Top-k Error (CVPR 2016)"
#: What quotes were read from.
READ = "OCR of the CVPR paper and text extracted from the PDF of the arXiv version"
