// The level lines of a loss over (z₁, z₂) and those of its conjugate over its dual set: a point z that is
// dragged shows value, gradient, conjugate and the residual of the Fenchel–Young inequality.
import { LOSSES, residual } from "../losses.mjs";
import { constraints } from "../certificate.mjs";
import { dot } from "../simplex.mjs";
import { SETS } from "../topk.mjs";
import { faces } from "./solid.mjs";
import { Stage, fmt, path, set, sv, tiny, vec } from "./stage.mjs";

const NAMES = {
  multiclass_hinge: "hinge", topk_hinge_alpha: "top-k hinge, alpha", topk_hinge_beta: "top-k hinge, beta",
  smooth_topk_hinge_alpha: "smooth, alpha", smooth_topk_hinge_beta: "smooth, beta", softmax: "softmax",
  topk_entropy_alpha: "top-k entropy, alpha", topk_entropy_beta: "top-k entropy, beta",
  truncated_topk_entropy: "truncated entropy",
}; // prettier-ignore
const [SIZE, EDGE] = [340, 30];
const CELLS = 40;
const LEVELS = [0.1, 0.5, 1, 1.5, 2, 2.5, 3, 3.5];

// Where a function on a grid takes a value: one segment in a triangle that its corners lie on both sides of.
function contour(values, level) {
  const at = (i, j) => values[i * (CELLS + 1) + j];
  const cut = ([i, j], [k, l]) => {
    const t = (level - at(i, j)) / (at(k, l) - at(i, j));
    return [i + t * (k - i), j + t * (l - j)];
  };
  const found = [];
  for (let i = 0; i < CELLS; i++)
    for (let j = 0; j < CELLS; j++)
      for (const far of [[i + 1, j], [i, j + 1]]) {
        const corners = [[i, j], [i + 1, j + 1], far];
        if (corners.some(([k, l]) => !Number.isFinite(at(k, l)))) continue;
        const high = corners.map(([k, l]) => at(k, l) >= level);
        const odd = [0, 1, 2].find((c) => high[c] !== high[(c + 1) % 3] && high[c] !== high[(c + 2) % 3]);
        if (odd === undefined) continue;
        found.push([cut(corners[odd], corners[(odd + 1) % 3]), cut(corners[odd], corners[(odd + 2) % 3])]);
      }
  return found;
}

// A square panel over [low, high]^2 with level lines that are drawn anew when the function changes.
class Plane {
  constructor(stage, label, names, [low, high], ticks) {
    Object.assign(this, { low, high });
    this.svg = stage.panel(SIZE, SIZE, label);
    const zero = Math.max(low, Math.min(0, high));
    this.svg.append(sv("path", { class: "axis", d: path([this.onto([low, zero]), this.onto([high, zero])], false) }));
    this.svg.append(sv("path", { class: "axis", d: path([this.onto([zero, low]), this.onto([zero, high])], false) }));
    for (const v of ticks) {
      const [x] = this.onto([v, low]);
      const [, y] = this.onto([low, v]);
      this.svg.append(sv("text", { class: "small", x, y: SIZE - 14, "text-anchor": "middle" }, fmt(v, v % 1 ? 1 : 0)));
      this.svg.append(sv("text", { class: "small", x: EDGE - 6, y: y + 4, "text-anchor": "end" }, fmt(v, v % 1 ? 1 : 0)));
    }
    this.svg.append(sv("text", { x: SIZE - 12, y: SIZE - 4, "text-anchor": "end" }, names[0]));
    this.svg.append(sv("text", { x: 4, y: 14 }, names[1]));
    this.ground = this.svg.appendChild(sv("path", { class: "set" }));
    this.lines = this.svg.appendChild(sv("g"));
  }

  onto([u, v]) {
    const unit = (SIZE - EDGE - 12) / (this.high - this.low);
    return [EDGE + (u - this.low) * unit, SIZE - EDGE - (v - this.low) * unit];
  }

  from(x, y) {
    const unit = (SIZE - EDGE - 12) / (this.high - this.low);
    return [(x - EDGE) / unit + this.low, (SIZE - EDGE - y) / unit + this.low];
  }

  draw(f, levels) {
    const step = (this.high - this.low) / CELLS;
    const values = [];
    for (let i = 0; i <= CELLS; i++)
      for (let j = 0; j <= CELLS; j++) values.push(f([this.low + i * step, this.low + j * step]));
    this.lines.replaceChildren(
      ...levels.flatMap((level) => {
        const segments = contour(values, level);
        if (!segments.length) return [];
        const drawn = segments.map((pair) => pair.map(([i, j]) => this.onto([this.low + i * step, this.low + j * step])));
        const line = sv("path", { class: "contour", d: drawn.map((pair) => path(pair, false)).join("") });
        // its number stands where it comes nearest to the diagonal, the outer one of two such places
        const far = ([[i, j]]) => Math.abs(i - j) - 0.1 * (i + j);
        const [x, y] = drawn[segments.reduce((best, pair, n) => (far(pair) < far(segments[best]) ? n : best), 0)][0];
        return x < SIZE - 25 ? [line, sv("text", { class: "small", x, y }, fmt(level, 2))] : [line];
      }),
    );
  }
}

export function create(root, { loss = "softmax", k = 1, gamma = 1, z = [1.4, -0.4] } = {}) {
  const stage = new Stage(root, "A loss and its conjugate");
  const left = new Plane(stage, "Level lines of the loss over z₁ and z₂", ["z₁", "z₂"], [-3, 3], [-2, 0, 2]);
  const right = new Plane(stage, "Dual set and level lines of the conjugate over x₁ and x₂", ["x₁", "x₂"], [-0.12, 1.12], [0, 0.5, 1]);
  const arrow = left.svg.appendChild(sv("path", { class: "level" }));
  let x = null; // a point of the reader's own; without one, the gradient
  const smooth = () => loss.startsWith("smooth");
  const fixed = () => loss === "softmax" || loss === "multiclass_hinge";
  const params = () => ({ k: fixed() ? 1 : k, gamma });
  const point = () => x ?? LOSSES[loss].point(z, params());
  // the gradients of the truncated loss fill the set of softmax, where its conjugate is infinite
  const guessed = () => (loss === "truncated_topk_entropy" ? 1 : params().k);
  const onSet = (v) => SETS[LOSSES[loss].set]({ a: v, k: guessed(), r: 1 });
  const bounded = (v) => v.map((u) => Math.max(-3, Math.min(3, u)));
  const say = () => {
    const at = point();
    const left = residual(LOSSES[loss], z, at, params());
    return `z = ${vec(z)}, loss ${fmt(LOSSES[loss].value(z, params()))}, x = ${vec(at)}, residual ${tiny(left)}`;
  };
  const handle = stage.handle(left.svg, {
    label: "The point z of the loss",
    move: (px, py) => (z = bounded(left.from(px, py))),
    nudge: ([dx, dy]) => (z = bounded([z[0] + 0.1 * dx, z[1] + 0.1 * dy])),
    value: () => z[0],
    text: say,
    anywhere: true,
  });
  const own = (v) => {
    x = onSet(v);
    gradient.setAttribute("aria-pressed", "false");
  };
  const image = stage.handle(right.svg, {
    label: "The dual point x",
    move: (px, py) => own(right.from(px, py)),
    nudge: ([dx, dy]) => own([point()[0] + 0.02 * dx, point()[1] + 0.02 * dy]),
    value: () => point()[0],
    text: () => `x = ${vec(point())}`,
    kind: "dualpoint",
    anywhere: true,
  });

  let stale = true;
  const changed = (action) => (v) => {
    action(v);
    stale = true;
    if (x) x = onSet(x);
  };
  stage.choice({ label: "loss", options: NAMES, value: loss, change: changed((v) => (loss = v)) });
  const guesses = stage.choice({
    label: "k", options: { 1: "1", 2: "2" }, value: String(k), change: changed((v) => (k = Number(v))),
  }); // prettier-ignore
  const width = stage.slider({
    label: "γ", min: 0.1, max: 3, step: 0.05, value: gamma, change: changed((v) => (gamma = v)),
  }); // prettier-ignore
  const gradient = stage.button("x = gradient", () => {
    x = null;
    gradient.setAttribute("aria-pressed", "true");
  });
  gradient.setAttribute("aria-pressed", "true");

  function levels() {
    const law = LOSSES[loss];
    guesses.row.hidden = fixed();
    width.row.hidden = !smooth();
    left.draw((v) => law.value(v, params()), LEVELS);
    const planes = constraints(law.set, 2, guessed(), 1);
    // as a flat solid: its face towards x₃
    const flat = [...planes.map(({ c, b }) => ({ c: [...c, 0], b })), { c: [0, 0, -1], b: 0 }, { c: [0, 0, 1], b: 0 }];
    set(right.ground, { d: path(faces(flat).pop().own.map((v) => right.onto(v))) });
    const inside = (v) => planes.every(({ c, b }) => dot(c, v) <= b + 1e-9);
    const conjugate = (v) => (inside(v) ? law.conjugate(v, params(), 1e-9) : NaN);
    right.draw(conjugate, smooth() ? [0.1, 0.2, 0.4, 0.8].map((v) => v * gamma / 2) : [-1, -0.75, -0.5, -0.2]);
  }

  stage.start(() => {
    if (stale) levels();
    stale = false;
    const law = LOSSES[loss];
    const at = point();
    const value = law.value(z, params());
    const conjugate = law.conjugate(at, params(), 1e-12);
    const left0 = residual(law, z, at, params());
    const [px, py] = left.onto(z);
    handle.put(px, py);
    image.put(...right.onto(at));
    set(arrow, { d: path([[px, py], [px + 60 * at[0], py - 60 * at[1]]], false) });
    const rows = [
      ["z", vec(z)],
      ["loss φ(z)", fmt(value)],
      [x ? "x, a point of your own" : "x, a (sub)gradient at z", vec(at)],
      ["conjugate φ*(x)", fmt(conjugate)],
      ["⟨z,x⟩", fmt(dot(z, at))],
      ["φ(z) + φ*(x) − ⟨z,x⟩ ≥ 0", tiny(left0), Math.abs(left0) < 1e-9 ? "good" : "bad"],
    ];
    if (!Number.isFinite(conjugate)) rows.push(["", "Not convex: a conjugate that is finite at 0 only certifies nothing.", "wide bad"]);
    stage.show(rows);
    return { loss, z, x: at, value, conjugate, residual: left0, ...params() };
  }, say);
}
