// The step that prox and dual update of the entropies share.
import { descending, sum } from "./simplex.mjs";

// W(e^t), the root w of w + log w = t, by three steps of fourth order (Fritsch, Shafer and Crowley 1973).
export function omega(t) {
  if (t < -36) return Math.exp(t);
  let w = t > 2 ? t - Math.log(t) : Math.exp(t) / (1 + Math.exp(t));
  for (let i = 0; i < 3; i++) {
    const r = t - w - Math.log(w);
    const q = 2 * (1 + w) * (1 + w + (2 * r) / 3);
    w *= 1 + ((r / (1 + w)) * (q - r)) / (q - 2 * r);
  }
  return w;
}

// The root x of a x + log x = z.
const root = (z, a) => {
  const t = z + Math.log(a);
  return t < -36 ? Math.exp(z) : omega(t) / a;
};

// The root s of c s - log(1 - s) = t >= 0, relatively: Newton's method from its right.
function mass(t, c) {
  if (c === 0) return -Math.expm1(-t);
  let s = Math.min(t / (1 + c), 1 - Number.EPSILON);
  for (let i = 0; i < 50; i++) {
    const d = (c * s - Math.log1p(-s) - t) / (c + 1 / (1 - s));
    s -= d;
    if (d <= Number.EPSILON * s) break;
  }
  return s;
}

// argmin a/2 (<x,x> + rho s^2) - <b,x> + <x,log x> + (1-s) log(1-s) over a top-k simplex, rho 0 or 1.
// With t = a rho s - log(1-s), for alpha less p/k, p the sum of the multipliers of its caps, it is
// x_i = min(root(b_i - t), cap); what they sum up to falls in t, while s rises, and at the right t
// they are equal. No small number is taken from 1: of s and 1 - s the smaller one is computed.
export function step(set, b, k, a, rho) {
  const at = (t) => {
    const x = b.map((v) => root(v - t, a));
    let [cap, p] = [set === "beta" && k > 1 ? 1 / k : Infinity, 0];
    if (set === "alpha" && k > 1) {
      const sorted = descending(x);
      const rest = [];
      sorted.reduceRight((s, v, i) => (rest[i] = s + v), 0);
      let u = 0;
      while (u < k - 1 && sorted[u] > rest[u] / (k - u)) u++;
      cap = rest[u] / (k - u);
      p = sum(b.map((v, i) => (x[i] > cap ? v - t - a * cap - Math.log(cap) : 0)));
    }
    const tau = t + p / k;
    const own = root(a * rho - tau, a * rho); // 1 - s
    const capped = x.map((v) => Math.min(v, cap));
    if (own > 0.5 && tau >= 0) return { x: capped, excess: sum(capped) - mass(tau, a * rho) };
    const [full, free] = [x.filter((v) => v >= cap).length, sum(x.filter((v) => v < cap))];
    if (set === "beta" && k > 1) return { x: capped, excess: own + free - (k - full) / k };
    return { x: capped, excess: own + sum(capped) - 1 };
  };
  let [low, high] = [-1, 1];
  while (at(low).excess < 0) low *= 2;
  while (at(high).excess > 0) high *= 2;
  for (;;) {
    const middle = low + (high - low) / 2;
    if (!(middle > low && middle < high)) return at(high).x;
    if (at(middle).excess > 0) low = middle;
    else high = middle;
  }
}
