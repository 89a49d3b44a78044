"""Mohapatra, Jawahar, Kumar: Efficient Optimization for Average Precision SVM, NIPS 2014."""

from verification.paper_statements._record import statements

stated = statements(__name__)
