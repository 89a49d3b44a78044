"""Pages run once per state of the sources: their outputs are kept, and found by what the cells could see."""

import hashlib
import logging
import shutil
import sys
from importlib.metadata import distributions
from pathlib import Path

from jupyter_cache import get_cache

#: What a cell may import or read; what is installed counts, too.
SOURCES = ("refsolve/**/*", "fast/**/*", "verification/**/*", "docs/_ext/*", "docs/*/*.json", "docs/*.json",
           "docs/solvers/*", "docs/course/js/*.mjs")  # fmt: skip


def page_cache(root: Path) -> str:
    """Folder of the outputs that belong to these very sources; those of others are removed."""
    installed = sorted(f"{d.name}=={d.version}" for d in distributions())
    digest = hashlib.sha256("\n".join([sys.version, *installed]).encode())
    for pattern in SOURCES:
        for path in sorted(root.glob(pattern)):
            if path.is_file() and path.suffix not in (".pyc", ".nbi", ".nbc"):
                digest.update(str(path.relative_to(root)).encode() + path.read_bytes())
    home = root / "docs" / "_build" / "cells"
    own = home / digest.hexdigest()[:16]
    for other in home.glob("*"):
        if other != own:
            shutil.rmtree(other, ignore_errors=True)
    logging.getLogger("traitlets").setLevel(logging.WARNING)  # a line per page otherwise
    _ = get_cache(str(own)).db  # made here, not by two readers at once
    return str(own)
