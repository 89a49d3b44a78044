// Drag a point in the plane of the simplex: its projection, threshold, multipliers and gap.
import { dot, gap, multipliers, project, sum } from "../simplex.mjs";
import { Stage, fmt, letters, path, set, sv, tiny, vec } from "./stage.mjs";

const SCALE = 103;
const CENTRE = [170, 150];
const U = [[-Math.SQRT1_2, Math.SQRT1_2, 0], [-1, -1, 2].map((v) => v / Math.sqrt(6))];
const onto = (a) => [CENTRE[0] + SCALE * dot(a, U[0]), CENTRE[1] - SCALE * dot(a, U[1])];
const ROOM = 1.4; // so far from the centre a point may go

export function create(root, { a = [1, 0.55, -0.4], r = 1 } = {}) {
  const stage = new Stage(root, "Projection onto the simplex");
  let shift = 0;
  const plane = stage.panel(340, 300, "The plane of the simplex: the triangle, the point a and its projection x");
  const corners = [0, 1, 2].map((i) => onto([0, 1, 2].map((j) => (i === j ? r : 0))));
  // Outside of the triangle, where a second or third entry becomes zero.
  [0, 1, 2].forEach((i) => {
    const out = [0, 1, 2].map((j) => (i === j ? -2 : 1));
    [0, 1, 2].filter((j) => j !== i).forEach((j) => {
      const [dx, dy] = [dot(out, U[0]), -dot(out, U[1])];
      const [x, y] = corners[j];
      plane.append(sv("path", { class: "guide", d: path([[x, y], [x + 200 * dx, y + 200 * dy]], false) }));
    });
  });
  plane.append(sv("path", { class: "set", d: path(corners) }));
  corners.forEach(([x, y], i) => {
    const [dx, dy] = [[-4, 17], [4, 17], [0, -9]][i];
    plane.append(sv("text", { x: x + dx, y: y + dy, "text-anchor": "middle" }, `x${"₁₂₃"[i]} = ${fmt(r, 0)}`));
  });
  const line = plane.appendChild(sv("path", { class: "dual" }));
  const image = plane.appendChild(sv("circle", { class: "image", r: 6 }));
  const name = plane.appendChild(sv("text", { class: "strong" }, "x"));
  const own = plane.appendChild(sv("text", { class: "strong" }, "a"));

  const bars = stage.panel(340, 230, "The entries of a as columns, cut off by the threshold t: what stands above is x");
  const BASE = 145;
  const high = (v) => BASE - 54 * v;
  bars.append(sv("path", { class: "axis", d: path([[30, BASE], [310, BASE]], false) }));
  const columns = [0, 1, 2].map((i) => {
    const full = bars.appendChild(sv("rect", { class: "below", x: 60 + 80 * i, width: 44 }));
    const top = bars.appendChild(sv("rect", { class: "above", x: 60 + 80 * i, width: 44 }));
    const text = bars.appendChild(sv("text", { x: 82 + 80 * i, "text-anchor": "middle" }));
    return { full, top, text };
  });
  const water = bars.appendChild(sv("path", { class: "level" }));
  const level = bars.appendChild(sv("text", { class: "strong", x: 314 }));

  function moveTo(p) {
    const length = Math.hypot(...p);
    const q = length > ROOM ? p.map((v) => (v * ROOM) / length) : p;
    const mean = sum(a) / 3;
    a = a.map((_, i) => mean + q[0] * U[0][i] + q[1] * U[1][i]);
  }
  const at = () => [dot(a, U[0]), dot(a, U[1])];
  const say = () => {
    const x = project({ a, r });
    return `a = ${vec(a)}, projection x = ${vec(x)}, threshold ${fmt(multipliers(a, x).t)}`;
  };
  const handle = stage.handle(plane, {
    label: "The point a that is projected",
    move: (x, y) => moveTo([(x - CENTRE[0]) / SCALE, (CENTRE[1] - y) / SCALE]),
    nudge: ([dx, dy]) => moveTo([at()[0] + 0.04 * dx, at()[1] + 0.04 * dy]),
    value: () => a[0],
    text: say,
  });
  stage.slider({
    label: "sum of a", min: -1, max: 4, step: 0.05, value: sum(a),
    change: (s) => {
      const d = (s - sum(a)) / 3;
      a = a.map((v) => v + d);
    },
  }); // prettier-ignore
  stage.slider({
    label: "t moved by", min: -0.6, max: 0.6, step: 0.02, value: 0, change: (v) => (shift = v),
  }); // prettier-ignore

  stage.start(() => {
    const x = project({ a, r });
    const { t } = multipliers(a, x);
    const mine = t + shift;
    const nu = a.map((v) => Math.max(mine - v, 0));
    const primal = 0.5 * sum(x.map((v, i) => (v - a[i]) ** 2));
    const found = gap(a, x, mine);
    const [p, q] = [onto(a), onto(x)];
    handle.put(...p);
    set(line, { d: path([p, q], false) });
    set(image, { cx: q[0], cy: q[1] });
    letters(own, name, p, q);
    columns.forEach(({ full, top, text }, i) => {
      const [y, h] = [Math.min(high(a[i]), BASE), Math.abs(high(a[i]) - BASE)];
      set(full, { y, height: h });
      set(top, { y: high(Math.max(a[i], mine)), height: high(mine) - high(Math.max(a[i], mine)) });
      set(text, { y: 222 });
      text.textContent = `a${"₁₂₃"[i]} = ${fmt(a[i], 2)}`;
    });
    set(water, { d: path([[30, high(mine)], [310, high(mine)]], false) });
    set(level, { y: high(mine) + 4 });
    level.textContent = "t";
    stage.show([
      ["point a", vec(a)],
      ["projection x", vec(x)],
      ["threshold t, multiplier of ⟨1,x⟩ = r", fmt(mine)],
      ["multipliers ν of x ≥ 0", vec(nu)],
      ["½‖x − a‖²", fmt(primal)],
      ["bound that t proves", fmt(primal - found)],
      ["gap", tiny(found), found > 1e-9 ? "bad" : "good"],
    ]);
    return { a, x, t: mine, nu, primal, gap: found };
  }, say);
}
