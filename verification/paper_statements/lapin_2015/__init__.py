"""Lapin, Hein, Schiele: Top-k Multiclass SVM, NIPS 2015."""

TITLE = "Lapin, Hein, Schiele: Top-k Multiclass SVM (NIPS 2015)"
#: What quotes were read from.
READ = "text extracted from the PDF"
