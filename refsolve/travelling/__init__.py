"""Certificates that travel: claims with all that is needed to prove them, in one file.

`docs/travelling.md` describes the file; two checkers that share nothing with this package read it.
"""

from refsolve.travelling.file import written

__all__ = ["written"]
