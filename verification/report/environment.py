"""What a run depends on: versions, from the metadata of what is installed, and the commit. Nothing is imported."""

import functools
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path

#: Packages whose versions can change a result of the kit.
PACKAGES = ("refsolve", "numpy", "scipy", "numba", "cvxpy", "clarabel", "scikit-learn")


@functools.cache
def version(package: str) -> str | None:
    """Installed version of a distribution; None if there is none."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def versions() -> dict[str, str]:
    """Python, the system, and the packages that are installed, by name."""
    system = f"{sys.platform} {platform.machine()}"
    found = {package: v for package in PACKAGES if (v := version(package)) is not None}
    return {"python": platform.python_version(), "system": system, **found}


def commit() -> str:
    """Hash of the commit that is checked out, with a "+" if files differ from it."""
    folder = Path(__file__).parent
    try:
        head, changed = (
            subprocess.run(
                ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
            ).stdout.strip()
            for arguments in (["rev-parse", "HEAD"], ["status", "--porcelain", "-uno"])
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + ("+" if changed else "")
