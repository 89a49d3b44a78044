"""Value, gradient, conjugate, prox and SDCA update, one loss per file."""
