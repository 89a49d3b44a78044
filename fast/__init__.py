"""Production implementations: numba kernels and scikit-learn estimators."""
