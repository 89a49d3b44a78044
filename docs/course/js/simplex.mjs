// Projection onto the simplex, and what all of these modules share.

export const sum = (v) => v.reduce((s, x) => s + x, 0);
export const dot = (v, w) => v.reduce((s, x, i) => s + x * w[i], 0);
export const max = (v) => v.reduce((top, x) => (x > top ? x : top), -Infinity);
export const clip = (v, low, high) => Math.max(low, Math.min(high, v));
export const descending = (v) => [...v].sort((x, y) => y - x);
// The sum of the k largest.
export const topSum = (v, k) => sum(descending(v).slice(0, k));

// argmin ||x - a||^2 + rho s^2 over {x >= 0, s = r} (equality) or {x >= 0, s <= r}, s = <1,x>.
// With D = a - max a <= 0 it is x = (D + p)_+. Where c entries of sum B are above zero, p is the
// smaller of (r - B)/c, for s = r, and (max a - rho B)/(1 + rho c), for a threshold of rho s;
// Newton's steps from above only ever shrink this set. No difference of large numbers is taken.
export function uncapped(a, r, rho, equality) {
  const top = max(a);
  const level = equality ? Infinity : top;
  if (!(r > 0 && level > 0)) return a.map(() => 0);
  let p = Math.min(r, level / (1 + rho));
  for (;;) {
    let count = 0;
    let below = 0;
    for (const v of a) {
      if (v - top > -p) {
        count += 1;
        below += v - top;
      }
    }
    const next = Math.min((r - below) / count, (level - rho * below) / (1 + rho * count));
    if (!(next < p)) return a.map((v) => Math.max(v - top + p, 0));
    p = next;
  }
}

// argmin ||x - a|| over {x >= 0, s = r}; a term rho s^2 is constant there.
export const project = ({ a, r = 1 }) => uncapped(a, r, 0, true);

// The multipliers of a projection x: t of s = r, and n >= 0 of x >= 0, with x = a - t + n.
export function multipliers(a, x) {
  const i = x.indexOf(max(x));
  const t = a[i] - x[i];
  return { t, n: a.map((v, j) => (x[j] > 0 ? 0 : Math.max(t - v, 0))) };
}

// What a threshold t proves: P(x) - D(t), D(t) = min over z >= 0 of 1/2 ||z - a||^2 + t (<1,z> - r),
// attained at z = (a - t)_+; it bounds ||x - x*||^2/2 for the projection x*. All terms are >= 0.
export function gap(a, x, t) {
  const z = a.map((v) => Math.max(v - t, 0));
  const d = x.map((v, i) => v - z[i]);
  return 0.5 * dot(d, d) + sum(x.map((v, i) => v * Math.max(t - a[i], 0)));
}
