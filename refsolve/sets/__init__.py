"""One convex set per file."""
