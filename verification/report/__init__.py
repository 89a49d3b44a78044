"""Documents, and their renderings: terminal, JSON, HTML, JUnit."""
