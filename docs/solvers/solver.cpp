// Projections onto the simplex and onto the top-k simplex as a solver that speaks protocol v1.
//
//     simplex:  argmin 1/2 ||x - a||^2              over  {x >= 0, s = r},  s = <1,x>
//     top-k:    argmin 1/2 ||x - a||^2 + rho/2 s^2  over  {x >= 0, s <= r, x_i <= s/k}
//
// One file, no libraries: g++ -std=c++17 -O2 solver.cpp -o solver. Built with -DSUM=float it
// accumulates in single precision, which is a mistake for the kit to find.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#ifndef SUM
#define SUM double
#endif
using Sum = SUM;
using Vector = std::vector<double>;

// -- the mathematics -----------------------------------------------------------------------------

// x = (u - b)_+ with b = max a - a and u = x_max. With n entries above zero and B the sum of their
// b: u = (r + B)/n if s = r, and (max a + rho B)/(1 + rho n) if s < r (`whole` excludes that),
// whichever is smaller. No difference of nearly equal numbers is left.
Vector project_simplex(const Vector& a, double r, double rho, bool whole) {
  Vector x(a.size(), 0.0);
  const double top = *std::max_element(a.begin(), a.end());
  if (!(r > 0) || (!whole && !(top > 0))) return x;
  Vector below;
  for (double v : a) below.push_back(top - v);
  std::sort(below.begin(), below.end());
  Sum total = 0;
  double u = 0;
  for (std::size_t i = 0; i < below.size(); ++i) {
    if (i > 0 && below[i] >= u) break;
    total += below[i];
    const double n = double(i + 1);
    u = (r + total) / n;
    if (!whole) u = std::min(u, (top + rho * total) / (1 + rho * n));
  }
  for (std::size_t i = 0; i < a.size(); ++i) x[i] = std::max(0.0, u - (top - a[i]));
  return x;
}

// x = clip(a - t, 0, u). Measured from the k-th largest entry, upwards by `above` for the k largest
// and downwards by `below` for the others, let q = pivot - t and p = u - q: then
// sum (p - above)_+ = sum (q - below)_+. For guessed active sets that and the bound on u are linear
// in (q, u); guessing again from the solution ends after finitely many steps.
Vector project_topk(const Vector& a, std::size_t k, double r, double rho) {
  const std::size_t d = a.size();
  if (k == 1) return project_simplex(a, r, rho, false);
  Vector x(d, 0.0);
  if (k > d || !(r > 0)) return x;
  Vector order = a;
  std::sort(order.rbegin(), order.rend());
  const double pivot = order[k - 1], cap = r / k, excess = rho * k * k;
  Vector above, below;
  Sum total = 0;  // of everything above the pivot
  for (std::size_t i = 0; i < k; ++i) above.push_back(order[i] - pivot), total += above.back();
  for (std::size_t i = k; i < d; ++i) below.push_back(pivot - order[i]);
  std::reverse(above.begin(), above.end());

  double u = std::min((total + k * pivot) / (k + excess), cap), q = u;
  if (!(u > 0)) return x;
  if (below.empty() || below[0] >= u) {  // the cap binds the k largest, the others are zero
    for (std::size_t i = 0; i < d; ++i) x[i] = a[i] >= pivot ? u : 0.0;
    return x;
  }
  std::size_t n = 0, m = 0;  // active entries: the first n of above, the first m of below
  Sum inner = 0, near = 0;
  while (n < k && above[n] <= 0) ++n;
  m = 1, near = below[0];
  for (std::size_t step = 0; step < 4 * d + 4; ++step) {
    const Sum outer = total - inner;
    const double loose = excess + double(k - n);
    q = (n * (k * pivot + outer) - loose * (inner - near)) / (double(n * n) + loose * (n + m));
    u = (double(n + m) * q + (inner - near)) / n;
    if (!(u <= cap)) u = cap, q = (n * u - inner + near) / double(n + m);
    const double p = u - q;
    std::size_t n2 = 0, m2 = 0;
    Sum inner2 = 0, near2 = 0;
    while (n2 < k && (above[n2] < p || above[n2] <= 0)) inner2 += above[n2++];
    while (m2 < d - k && (below[m2] < q || m2 == 0)) near2 += below[m2++];
    if (n2 == n && m2 == m) break;
    n = n2, m = m2, inner = inner2, near = near2;
  }
  for (std::size_t i = 0; i < d; ++i) x[i] = std::min(u, std::max(0.0, q - (pivot - a[i])));
  return x;
}

// -- JSON: what the protocol uses of it ----------------------------------------------------------

struct Json {
  double number = 0;  // also the strings "nan", "inf", "-inf" and hexadecimal ones
  std::string text;
  std::vector<Json> items;
  std::map<std::string, Json> fields;
  const Json& operator[](const std::string& name) const {
    static const Json none;
    const auto found = fields.find(name);
    return found == fields.end() ? none : found->second;
  }
  bool has(const std::string& name) const { return fields.count(name) > 0; }
};

struct Parser {
  const char* at;
  char next() {
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n') ++at;
    return *at;
  }
  void expect(char c) {
    if (next() != c) throw std::runtime_error(std::string("expected ") + c);
    ++at;
  }
  std::string string() {
    std::string s;
    for (expect('"'); *at != '"'; ++at) {
      if (*at == '\0') throw std::runtime_error("open string");
      if (*at == '\\' && *++at == '\0') throw std::runtime_error("open string");
      s += *at;  // names and words of the protocol have no escapes that matter
    }
    ++at;
    return s;
  }
  Json value() {
    Json v;
    const char c = next();
    if (c == '{') {
      for (++at; next() != '}';) {
        const std::string name = string();
        expect(':');
        v.fields[name] = value();
        if (next() == ',') ++at;
      }
      ++at;
    } else if (c == '[') {
      for (++at; next() != ']';) {
        v.items.push_back(value());
        if (next() == ',') ++at;
      }
      ++at;
    } else if (c == '"') {
      v.text = string();
      v.number = std::strtod(v.text.c_str(), nullptr);
    } else if (c == 't' || c == 'f' || c == 'n') {  // true, false, null
      v.number = c == 't';
      while (*at >= 'a' && *at <= 'z') ++at;
    } else {
      char* end = nullptr;
      v.number = std::strtod(at, &end);  // rounds correctly, as bit-exact transfer needs
      if (end == at) throw std::runtime_error("expected a value");
      at = end;
    }
    return v;
  }
};

std::string number(double v) {
  if (std::isnan(v)) return "\"nan\"";
  if (std::isinf(v)) return v > 0 ? "\"inf\"" : "\"-inf\"";
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", v);  // 17 digits determine a double
  return text;
}

// -- the protocol: one line in, one line out -----------------------------------------------------

double parameter(const Json& request, const char* name, double otherwise) {
  return request["params"].has(name) ? request["params"][name].number : otherwise;
}

std::string answer(const Json& request) {
  const Json& a = request["arrays"]["a"];
  if (!a.has("values") || a["shape"].items.size() != 1)  // a file, or a batch of rows
    return "\"status\":\"unsupported\",\"message\":\"single vectors in the request only\"";
  Vector entries;
  for (const Json& v : a["values"].items) entries.push_back(v.number);
  const double r = parameter(request, "r", 1), rho = parameter(request, "rho", 0);
  const auto k = std::size_t(parameter(request, "k", 1));
  const Vector x = request["problem"].text == "simplex.projection"
                       ? project_simplex(entries, r, 0, true)
                       : project_topk(entries, k, r, rho);
  std::string text;
  for (double v : x) text += (text.empty() ? "" : ",") + number(v);
  return "\"x\":[" + text + "],\"status\":\"optimal\"";
}

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const Json request = Parser{line.c_str()}.value();
    std::cout << "{\"id\":" << long(request["id"].number) << "," << answer(request) << "}"
              << std::endl;  // endl flushes: the kit waits for this line
  }
}
