"""The greedy of Yue et al. 2007 in C++, compiled when the benchmark runs: what a user would write."""

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

COMPILERS = ("c++", "g++", "clang++")
FLAGS = ("-O3", "-std=c++17", "-shared", "-fPIC")
SOURCE = r"""
#include <algorithm>
#include <numeric>
#include <vector>
extern "C" double greedy(const double* score, const unsigned char* label, long n, double* out) {
  std::vector<long> pos, neg;
  for (long i = 0; i < n; ++i) (label[i] ? pos : neg).push_back(i);
  auto down = [&](long a, long b) { return score[a] > score[b]; };
  std::stable_sort(pos.begin(), pos.end(), down);
  std::stable_sort(neg.begin(), neg.end(), down);
  const long P = pos.size(), N = neg.size();
  const double each = 1.0 / P, unit = 2.0 / (double(P) * N);
  std::vector<double> s(P);
  for (long k = 0; k < P; ++k) s[k] = score[pos[k]];
  std::vector<long> above(P, 0);
  double value = 0.0;
  for (long j = 1; j <= N; ++j) {
    const double t = score[neg[j - 1]];
    double sum = 0.0, best = 0.0;
    long place = P + 1;
    for (long k = P; k >= 1; --k) {
      const double m = double(j + k);
      sum += each * k / (m * (m - 1.0)) - unit * (s[k - 1] - t);
      if (sum > best) { best = sum; place = k; }
    }
    value += best;
    if (place <= P) ++above[place - 1];
    out[neg[j - 1]] = unit * (P + 1 - place);
  }
  std::partial_sum(above.begin(), above.end(), above.begin());
  for (long k = 0; k < P; ++k) out[pos[k]] = -unit * above[k];
  return value;
}
"""

Greedy = Callable[[np.ndarray, np.ndarray], tuple[float, np.ndarray]]


def compiled() -> Greedy | None:
    """The greedy as a function of scores (n,) and labels (n,), or None without a compiler.

    It returns L and its subgradient (n,).
    """
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, built = Path(folder, "greedy.cpp"), Path(folder, "greedy.so")
        source.write_text(SOURCE)
        subprocess.run([compiler, *FLAGS, str(source), "-o", str(built)], check=True)
        function = ctypes.CDLL(str(built)).greedy
    function.restype = ctypes.c_double

    def greedy(scores: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
        labels, out = np.ascontiguousarray(y == 1).view(np.uint8), np.empty(len(scores))
        found = function(
            ctypes.c_void_p(scores.ctypes.data), ctypes.c_void_p(labels.ctypes.data),
            ctypes.c_long(len(scores)), ctypes.c_void_p(out.ctypes.data),
        )  # fmt: skip
        return float(found), out

    return greedy
