"""Certificate files: claims with all that is needed to prove them, in one file.

`docs/certificate_files.md` describes the file; two checkers that share nothing with this package read it.
"""

from refsolve.certificate_files.file import written

__all__ = ["written"]
