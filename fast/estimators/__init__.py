"""The public scikit-learn classes."""

from fast.estimators._settings import CertifiedClassifier as CertifiedClassifier
