"""Kernels start from an empty IPython profile: nobody's start-up files change what a page prints."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from cpu import LOG

# 40 is logging.ERROR: the kernels talk over the loopback, which ipykernel warns about each time.
SETTINGS = """
c.IPKernelApp.log_level = 40
c.HistoryManager.enabled = False
c.InteractiveShellApp.extensions = ["cpu"]
"""


def fresh_ipython_home() -> str:
    """A temporary IPYTHONDIR, removed when the build ends, with a folder for what `cpu` measures."""
    home = Path(tempfile.mkdtemp(prefix="refsolve-docs-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    profile = home / "profile_default"
    profile.mkdir()
    (profile / "ipython_kernel_config.py").write_text(SETTINGS, encoding="utf-8")
    os.environ[LOG] = str(home / "seconds")
    (home / "seconds").mkdir()
    return str(home)
