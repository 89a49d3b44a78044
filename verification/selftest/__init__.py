"""Who judges the judge: wrong solvers that must be caught, right ones that must pass."""
