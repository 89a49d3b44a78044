"""Two peers in C++, compiled when the benchmark runs, as a user would write them.

The greedy of Yue et al. 2007, and the quicksort-like recursion of Mohapatra et al. (CVPR 2018, arXiv 1604.08269).
"""

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

COMPILERS = ("c++", "g++", "clang++")
SOURCE = Path(__file__).with_name("greedy.cpp")
FLAGS = ("-O3", "-std=c++17", "-shared", "-fPIC")
Greedy = Callable[[np.ndarray, np.ndarray], tuple[float, np.ndarray]]


def compiled(name: str = "greedy") -> Greedy | None:
    """``greedy`` or ``recursion`` as a function of scores (n,) and labels (n,), or None without a compiler.

    It returns L and its subgradient (n,).
    """
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder, "greedy.so")
        subprocess.run([compiler, *FLAGS, str(SOURCE), "-o", str(built)], check=True)
        function = ctypes.CDLL(str(built))[name]
    function.restype = ctypes.c_double

    def greedy(scores: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
        labels, out = np.ascontiguousarray(y == 1).view(np.uint8), np.empty(len(scores))
        found = function(
            ctypes.c_void_p(scores.ctypes.data), ctypes.c_void_p(labels.ctypes.data),
            ctypes.c_long(len(scores)), ctypes.c_void_p(out.ctypes.data),
        )  # fmt: skip
        return float(found), out

    return greedy
