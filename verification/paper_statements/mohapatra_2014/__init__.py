"""Mohapatra, Jawahar, Kumar: Efficient Optimization for Average Precision SVM, NIPS 2014."""

TITLE = "Mohapatra, Jawahar, Kumar: Efficient Optimization for Average Precision SVM (NIPS 2014)"
#: What quotes were read from.
READ = "OCR"
