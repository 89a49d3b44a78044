"""Lapin, Hein, Schiele: Top-k Multiclass SVM, NIPS 2015."""

from verification.paper_statements._record import statements

stated = statements(__name__)
