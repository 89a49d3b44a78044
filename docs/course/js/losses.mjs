// The losses over z, z_j = f_j - f_y + c_j for the d classes j != y: value, the point x of the dual
// set where <z,x> - conjugate(x) is largest (the gradient), conjugate, dual update.
import { descending, dot, sum } from "./simplex.mjs";
import { step } from "./steps.mjs";
import { SETS, SUPPORT } from "./topk.mjs";

const xlogx = (v) => (v > 0 ? v * Math.log(v) : 0);

// x in the set of radius 1 up to rounding, `slack` of the radius or cap.
function inside(set, x, k, slack) {
  const s = sum(x);
  const bound = set === "alpha" ? s : 1;
  const room = 1 + slack;
  if (set === "alpha" && k > x.length) return x.every((v) => v === 0);
  return s <= room && x.every((v) => k * v <= bound * room && k * -v <= bound * slack);
}

// argmax <z,x> over the set of radius r, ties to the first classes; 0 where that is as good.
function vertex(set, z, k, r) {
  const pivot = descending(z)[Math.min(k, z.length) - 1];
  if (!(SUPPORT[set](z, k, 1) > 0)) return z.map(() => 0);
  const least = set === "beta" ? Math.max(pivot, 0) : pivot;
  let left = Math.min(k, z.length) - z.filter((v) => v > least).length;
  const ties = set === "alpha" || pivot > 0;
  return z.map((v) => (v > least || (ties && v === pivot && left-- > 0) ? r / k : 0));
}

// Support functions of a top-k simplex, for gamma > 0 of it with gamma/2 ||x||^2 taken off.
const hinge = (set, smooth) => ({
  costs: 1,
  set,
  value(z, { k = 1, gamma = 1 }) {
    if (!smooth) return SUPPORT[set](z, k, 1);
    const p = SETS[set]({ a: z, k, r: gamma });
    return Math.max(0, sum(p.map((v, i) => (v > 0 ? (z[i] - v / 2) * (v / gamma) : 0))));
  },
  point(z, { k = 1, gamma = 1 }) {
    return smooth ? SETS[set]({ a: z, k, r: gamma }).map((v) => v / gamma) : vertex(set, z, k, 1);
  },
  conjugate(x, { k = 1, gamma = 1 }, slack = 0) {
    if (!inside(set, x, k, slack)) return Infinity;
    return smooth ? (gamma / 2) * dot(x, x) : 0;
  },
  // The block r x that maximises the dual where its other blocks make the scores differ by b - c:
  // b/den, brought into the set by a biased projection.
  den: (r, kii, { gamma = 1 }) => kii + (smooth ? gamma / r : 0),
  update(b, r, kii, params) {
    const { k = 1 } = params;
    if (!(r > 0)) return b.map(() => 0);
    const den = this.den(r, kii, params);
    if (!(den > 0)) return vertex(set, b, k, r);
    return SETS[set]({ a: b, k, r: r * den, rho: kii / den }).map((v) => v / den);
  },
  // argmin over u of loss(u + c) + ||u - v||^2/(2t)
  prox(v, c, t, { k = 1, gamma = 1 }) {
    const total = (smooth ? gamma : 0) + t;
    const p = SETS[set]({ a: v.map((u, i) => u + c[i]), k, r: total });
    return v.map((u, i) => u - (t / total) * p[i]);
  },
});

// The n largest entries are capped: the fewest with (k - n) e^b <= Z e^b (+ 1 for beta), b the next
// entry and Z e^b the sum of e^u from there on, which is added up from its small end.
function capped(set, sorted, k) {
  const d = sorted.length;
  let n = Math.min(k, d) - 1;
  let base = sorted[n];
  let z = sum(sorted.slice(n).map((v) => Math.exp(v - base)));
  if (k > d) [n, base, z] = [d, -Infinity, 0];
  while (n > 0) {
    const top = sorted[n - 1];
    const wider = 1 + Math.exp(base - top) * z;
    if (k - n + 1 > wider + (set === "beta" ? Math.exp(-top) : 0)) break;
    [n, base, z] = [n - 1, top, wider];
  }
  return { n, base, z };
}

// p = max(b, 0) and D with D e^p = 1 + Z e^b; the logarithm of it, also where it is tiny.
function level(base, z) {
  const p = Math.max(base, 0);
  return [p, Math.exp(-p) + Math.exp(base - p) * z];
}
function logOnePlus(base, z) {
  const [p, total] = level(base, z);
  return p > 0 ? p + Math.log(total) : Math.log1p(Math.exp(base) * z);
}
function logOdds({ n, base, z }, sorted, k) {
  const rho = n / k;
  const rise = sum(sorted.slice(0, n).map((v) => v - base));
  return base + rise / k + (rho * Math.log(k) + (1 - rho) * Math.log(z / (1 - rho)));
}

// <x,log x> + (1-s) log(1-s) on a top-k simplex, and its conjugate.
const entropy = (set) => ({
  costs: 0,
  set,
  value(u, { k = 1 }) {
    const sorted = descending(u);
    const found = capped(set, sorted, k);
    const { n, base, z } = found;
    if (set === "alpha" && n > 0) return logOnePlus(logOdds(found, sorted, k), 1);
    const rest = logOnePlus(base, z);
    const rho = n / k;
    const top = sum(sorted.slice(0, n)) / k + rho * Math.log(k);
    return n === 0 ? rest : top + (rho < 1 ? (1 - rho) * (rest - Math.log1p(-rho)) : 0);
  },
  point(u, { k = 1 }) {
    const sorted = descending(u);
    const found = capped(set, sorted, k);
    const { n, base, z } = found;
    const rho = n / k;
    if (set === "alpha" && n > 0) {
      const v = logOdds(found, sorted, k);
      const [p, total] = level(v, 1);
      const s = Math.exp(v - p) / total;
      const factor = (s * (1 - rho)) / z; // 0 where s underflows
      return u.map((w) => Math.min(factor * Math.exp(Math.min(w - base, 700)), s / k));
    }
    const [p, total] = level(base, z);
    return u.map((w) => Math.min(((1 - rho) / total) * Math.exp(w - p), 1 / k));
  },
  conjugate(x, { k = 1 }, slack = 0) {
    if (!inside(set, x, k, slack)) return Infinity;
    const s = sum(x);
    return sum(x.map(xlogx)) + (s < 0.5 ? (1 - s) * Math.log1p(-s) : xlogx(Math.max(1 - s, 0)));
  },
  update(b, r, kii, { k = 1 }) {
    const x = r * kii > 0 ? step(set, b, k, r * kii, 1) : this.point(b, { k });
    return x.map((v) => r * v);
  },
  prox(v, c, t, { k = 1 }) {
    const x = step(set, v.map((u, i) => u + c[i]), k, t, 0);
    return v.map((u, i) => u - t * x[i]);
  },
});

// softmax over all but the k - 1 largest: not convex for k > 1, and its conjugate then is finite at 0 only.
function kept(u, k) {
  const order = u.map((_, i) => i).sort((i, j) => u[j] - u[i] || i - j);
  const dropped = new Set(order.slice(0, k - 1));
  return u.map((_, i) => !dropped.has(i));
}
const soft = entropy("alpha");
const truncated = {
  costs: 0,
  set: "alpha",
  value: (u, { k = 1 }) => soft.value(descending(u).slice(k - 1), {}),
  point(u, { k = 1 }) {
    const keep = kept(u, k);
    const x = soft.point(u.filter((_, i) => keep[i]), {});
    return keep.map((stays) => (stays ? x.shift() : 0));
  },
  prox(v, c, t, { k = 1 }) {
    const keep = kept(v.map((u, i) => u + c[i]), k);
    const of = (w) => w.filter((_, i) => keep[i]);
    const moved = soft.prox(of(v), of(c), t, {});
    return v.map((u, i) => (keep[i] ? moved.shift() : u));
  },
  conjugate(x, { k = 1 }, slack = 0) {
    if (k === 1) return soft.conjugate(x, {}, slack);
    return x.every((v) => v === 0) ? 0 : Infinity;
  },
};

export const LOSSES = {
  multiclass_hinge: hinge("beta", false),
  topk_hinge_alpha: hinge("alpha", false),
  topk_hinge_beta: hinge("beta", false),
  smooth_topk_hinge_alpha: hinge("alpha", true),
  smooth_topk_hinge_beta: hinge("beta", true),
  softmax: soft,
  topk_entropy_alpha: soft,
  topk_entropy_beta: entropy("beta"),
  truncated_topk_entropy: truncated,
};

// z from scores, and back: a block of x with the entry at y that makes its sum 0.
export const others = (f, y, costs) =>
  f.map((v, j) => v - f[y] + (Array.isArray(costs) ? costs[j] : costs)).filter((_, j) => j !== y);
export const block = (x, y, sign = 1) => {
  const a = x.map((v) => sign * v + 0);
  a.splice(y, 0, 0 - sign * sum(x));
  return a;
};

// loss(z) + conjugate(x) - <z,x> >= 0, and 0 if and only if x is a (sub)gradient at z.
export const residual = (loss, z, x, params) =>
  loss.value(z, params) + loss.conjugate(x, params, 1e-12) - dot(z, x);
