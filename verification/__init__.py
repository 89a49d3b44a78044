"""Certificates, checks and reports: the scorer is not the solver."""
