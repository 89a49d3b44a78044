// Inference for average precision as a user would write it. The greedy of Yue et al. 2007:
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

// The recursion of Mohapatra, Rolinek, Jawahar, Kolmogorov and Kumar (CVPR 2018, arXiv 1604.08269): positives are
// sorted, negatives never; the negative in the middle, found by selection, tries the ranks in question, and those
// before and after it recurse between its rank and the old bounds.
namespace {
struct Negative { double score; long place; };
struct Recursion {
  const std::vector<double>& s;
  std::vector<Negative>& neg;
  std::vector<long>& rank;
  double each, unit;
  void solve(long first, long last, long low, long high) {
    if (first > last) return;
    if (low == high) { std::fill(rank.begin() + first - 1, rank.begin() + last, low); return; }
    const long j = (first + last) / 2;
    std::nth_element(neg.begin() + first - 1, neg.begin() + j - 1, neg.begin() + last,
                     [](const Negative& a, const Negative& b) { return a.score > b.score; });
    const double t = neg[j - 1].score;
    double sum = 0.0, best = 0.0;
    long place = high;
    for (long k = high - 1; k >= low; --k) {
      const double m = double(j + k);
      sum += each * k / (m * (m - 1.0)) - unit * (s[k - 1] - t);
      if (sum > best) { best = sum; place = k; }
    }
    rank[j - 1] = place;
    solve(first, j - 1, low, place);
    solve(j + 1, last, place, high);
  }
};
}  // namespace
extern "C" double recursion(const double* score, const unsigned char* label, long n, double* out) {
  std::vector<Negative> pos, neg;
  for (long i = 0; i < n; ++i) (label[i] ? pos : neg).push_back({score[i], i});
  std::sort(pos.begin(), pos.end(), [](const Negative& a, const Negative& b) { return a.score > b.score; });
  const long P = pos.size(), N = neg.size();
  const double each = 1.0 / P, unit = 2.0 / (double(P) * N);
  std::vector<double> s(P);
  for (long k = 0; k < P; ++k) s[k] = pos[k].score;
  std::vector<long> rank(N), above(P, 0);
  Recursion{s, neg, rank, each, unit}.solve(1, N, 1, P + 1);
  double value = 0.0;
  for (long j = 0; j < N; ++j) {
    if (rank[j] <= P) ++above[rank[j] - 1];
    out[neg[j].place] = unit * (P + 1 - rank[j]);
    value += out[neg[j].place] * (neg[j].score - s[P / 2]);
  }
  std::partial_sum(above.begin(), above.end(), above.begin());
  for (long k = 0; k < P; ++k) {
    out[pos[k].place] = -unit * above[k];
    value += each * above[k] / double(k + 1 + above[k]) - unit * above[k] * (s[k] - s[P / 2]);
  }
  return value;
}
