// Functions of one number with their slopes, conjugates and biconjugates. A slope at a kink is one of several.
import { clip } from "./simplex.mjs";

const xlogx = (v) => (v > 0 ? v * Math.log(v) : 0);
const inside = (g, low, high, value) => (g >= low && g <= high ? value() : Infinity);
const convex = (f) => ({ ...f, biconjugate: f.value });

export const FUNCTIONS = {
  hinge: convex({
    value: (x) => Math.max(0, 1 - x),
    slope: (x) => (x < 1 ? -1 : 0),
    conjugate: (g) => inside(g, -1, 0, () => g),
  }),
  logistic: convex({
    value: (x) => Math.max(0, -x) + Math.log1p(Math.exp(-Math.abs(x))),
    slope: (x) => -1 / (1 + Math.exp(x)),
    conjugate: (g) => inside(g, -1, 0, () => xlogx(-g) + xlogx(1 + g)),
  }),
  square: convex({ value: (x) => (x * x) / 2, slope: (x) => x, conjugate: (g) => (g * g) / 2 }),
  // The nearer of two parabolas: not convex, and its hump is no part of its biconjugate.
  hump: {
    value: (x) => (Math.abs(x) - 1) ** 2,
    slope: (x) => 2 * (x - (x < 0 ? -1 : 1)),
    conjugate: (g) => Math.abs(g) + (g * g) / 4,
    biconjugate: (x) => Math.max(Math.abs(x) - 1, 0) ** 2,
  },
};

// What a line of slope g that touches f from below says at x; the residual is f(x) + f*(g) - gx.
export function tangent(f, x, g) {
  const [value, conjugate] = [f.value(x), f.conjugate(g)];
  return { value, conjugate, biconjugate: f.biconjugate(x), line: g * x - conjugate, residual: value + conjugate - g * x };
}

// The curve over [low, high], cut where it is infinite.
export const curve = (f, low, high, count = 240) =>
  Array.from({ length: count + 1 }, (_, i) => low + ((high - low) * i) / count)
    .map((x) => [x, f(x)])
    .filter(([, v]) => Number.isFinite(v))
    .map(([x, v]) => [x, clip(v, -99, 99)]);
