"""The trusted core tests itself: wrong certificates must be refuted, the right ones must pass.

The checks compare certificates with rational and high-precision arithmetic that shares nothing with the
core (`exact`, `sets`, `losses`, `decimals`, `rankings`, `models`, `multiclass`); pytest runs them. Each wrong
certificate (`wrong`) is the core with one piece of one function replaced.
"""
