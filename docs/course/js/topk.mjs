// Projections onto the top-k simplices and the top-k cone, biased for rho > 0:
// argmin ||x - a||^2 + rho s^2, s = <1,x>, over
//   alpha {x >= 0, s <= r, x_i <= s/k},  beta {0 <= x_i <= r/k, s <= r},  cone {x >= 0, x_i <= s/k}.
import { clip, descending, dot, sum, topSum, uncapped } from "./simplex.mjs";

const zero = (a) => a.map(() => 0);
const clipped = (a, pivot, q, cap) => a.map((v) => clip(v - pivot + q, 0, cap));

// How many entries exceed the k-th largest, by how much in total, how many equal it, and how far
// the next one is below.
function ranks(a, pivot) {
  const above = a.filter((v) => v > pivot);
  const below = a.filter((v) => v < pivot);
  const equal = a.length - above.length - below.length;
  return {
    higher: above.length,
    total: sum(above.map((v) => v - pivot)),
    equal,
    drop: below.length ? pivot - below.reduce((m, v) => Math.max(m, v)) : Infinity,
  };
}

// Entries within p above the pivot (n, in total b; the others above: outer), and q below (m, total g).
function around(a, pivot, p, q) {
  const found = { n: 0, b: 0, outer: 0, m: 0, g: 0 };
  for (const v of a) {
    const d = v - pivot;
    if (d > 0 && d < p) {
      found.n += 1;
      found.b += d;
    } else if (d > 0) found.outer += d;
    else if (d < 0 && -d < q) {
      found.m += 1;
      found.g -= d;
    }
  }
  return found;
}

// The guesses of active sets repeat at the latest when rounding makes them cycle.
function settle(first, next) {
  let seen = null;
  let mark = 1;
  let guess = first;
  for (let step = 1; ; step++) {
    const state = next(guess);
    if (state.done || (state.n === guess.n && state.m === guess.m)) return state;
    if (seen && state.n === seen.n && state.m === seen.m) return state;
    guess = state;
    if (step === mark) {
      seen = state;
      mark *= 2;
    }
  }
}

// x = clip(a - t, 0, u), F(t) = F(t + u) with F(v) = kv + sum (a - v)_+. Distances are taken from the
// k-th largest entry: with q = a_[k] - t and p = u - q, sum over the top of (p - B)_+ equals sum over
// the rest of (q - A)_+; for guessed active sets both conditions are linear in (q, u).
export function alpha({ a, k = 1, r = 1, rho = 0 }) {
  if (k === 1) return uncapped(a, r, rho, false);
  if (k > a.length || !(r > 0)) return zero(a);
  const cap = r / k;
  const excess = rho * k * k;
  const pivot = descending(a)[k - 1];
  const { higher, total, equal, drop } = ranks(a, pivot);
  const tiedTop = k - higher;
  const tiedRest = equal - tiedTop;
  const u0 = Math.min((total + k * pivot) / (k + excess), cap);
  if (!(u0 > 0)) return zero(a);
  const step = tiedRest > 0 ? 0 : drop;
  if (step >= u0) return clipped(a, pivot, u0, u0);
  const { q, u } = settle(
    { n: tiedTop, b: 0, outer: total, m: Math.max(1, tiedRest), g: step },
    ({ n, b, outer, m, g }) => {
      const loose = excess + (k - n);
      let q = (n * (k * pivot + outer) - loose * (b - g)) / (n * n + loose * (n + m));
      let u = ((n + m) * q + (b - g)) / n;
      if (!(u <= cap)) {
        u = cap;
        q = (n * u - b + g) / (n + m);
      }
      if (!(u > q)) return { done: true, q, u };
      const near = around(a, pivot, u - q, q);
      return { ...near, n: near.n + tiedTop, m: near.m + tiedRest, q, u };
    },
  );
  return clipped(a, pivot, q, u);
}

export const cone = ({ a, k = 1, rho = 0 }) => alpha({ a, k, r: Infinity, rho });

// Fewer than k entries are positive and s < r: solve rho s = t without caps, fix the entries above
// the cap, and solve again; t only falls, so that what is fixed stays so.
function high(a, cap, rho) {
  let bound = Infinity;
  let fixed = 0;
  for (;;) {
    const first = a.reduce((m, v) => (v < bound && v > m ? v : m), -Infinity);
    const level = first - rho * (fixed * cap);
    let p = 0;
    if (level > 0) {
      p = level / (1 + rho);
      for (;;) {
        const near = a.filter((v) => v < bound && v - first > -p).map((v) => v - first);
        const next = (level - rho * sum(near)) / (1 + rho * near.length);
        if (!(next < p)) break;
        p = next;
      }
    }
    if (p <= cap) return a.map((v) => (v >= bound ? cap : Math.max(v - first + p, 0)));
    bound = Math.min(bound, first + (cap - p));
    fixed = a.filter((v) => v >= bound).length;
  }
}

// x = clip(a - t, 0, r/k) for the smallest t >= 0 with s <= r and rho s <= t.
export function beta({ a, k = 1, r = 1, rho = 0 }) {
  if (k === 1) return uncapped(a, r, rho, false);
  if (!(r > 0)) return zero(a);
  const cap = r / k;
  const mass = (origin) => sum(a.map((v) => clip(v - origin, 0, cap)));
  if (rho === 0 && mass(0) <= r) return clipped(a, 0, 0, cap);
  const j = Math.min(k, a.length);
  const pivot = descending(a)[j - 1];
  if (rho * mass(pivot) >= pivot) return high(a, cap, rho);
  const { higher, equal, drop } = ranks(a, pivot);
  const tiedTop = j - higher;
  const tiedRest = equal - tiedTop;
  const step = tiedRest > 0 ? 0 : drop;
  const reached = step < cap;
  const { q } = settle(
    { n: tiedTop, b: 0, m: reached ? Math.max(1, tiedRest) : 0, g: reached ? step : 0 },
    ({ n, b, m, g }) => {
      const full = m > 0 ? (n * cap - b + g) / (n + m) : cap;
      const q = Math.min(full, (pivot - rho * (b + (j - n) * cap - g)) / (1 + rho * (n + m)));
      if (!(cap > q)) return { done: true, q };
      const near = around(a, pivot, cap - q, q);
      return { ...near, n: near.n + tiedTop, m: near.m + tiedRest, q };
    },
  );
  return clipped(a, pivot, q, cap);
}

export const SETS = { alpha, beta, cone };

// Support functions: the largest <v,x> over the set.
export const SUPPORT = {
  alpha: (v, k, r) => (k > v.length ? 0 : (r / k) * Math.max(0, topSum(v, k))),
  beta: (v, k, r) => (r / k) * topSum(v.map((u) => Math.max(u, 0)), k),
};

// The cheapest multipliers >= 0 with v = lambda 1 + mu - n (alpha, cone: - <1,mu>/k too), k <= d: of
// s <= r, of the caps and of x >= 0. What they charge, r lambda (beta: + <1,mu> r/k), is the support function.
export function multipliers(set, v, k) {
  const kth = descending(v)[k - 1];
  const theta = set === "beta" ? Math.max(0, kth) : kth;
  const mu = v.map((u) => Math.max(u - theta, 0));
  const share = set === "beta" ? 0 : sum(mu) / k;
  const lambda = Math.max(0, theta + share);
  return { lambda, mu, nu: v.map((u, i) => lambda + mu[i] - share - u) };
}

// A dual point v for x as the projection of a, and the gap that they leave: <v,x> from the support
// function of v = a - x. The cone takes no lambda: v is first brought into its polar, {S_k(v) <= 0}, by
// w = v - lambda, and the gap is ||v - w||^2/2 - <w,x>.
export function certificate(set, { a, k = 1, r = 1 }, x) {
  const v = a.map((u, i) => u - x[i]);
  const found = multipliers(set, v, k);
  if (set !== "cone") return { ...found, v, gap: SUPPORT[set](v, k, r) - dot(v, x) };
  const w = v.map((u) => u - found.lambda);
  return { ...found, lambda: 0, v: w, gap: 0.5 * found.lambda ** 2 * v.length - dot(w, x) };
}
