"""The public scikit-learn classes."""
