// The greedy of Yue et al. 2007, as a user would write it.
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
