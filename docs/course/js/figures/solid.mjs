// Sets in three dimensions, turned by hand, with a point and its projection.
import { constraints } from "../certificate.mjs";
import { clip, dot, sum } from "../simplex.mjs";
import { SETS, certificate } from "../topk.mjs";
import { Stage, fmt, letters, path, place, set, sv, tiny, vec } from "./stage.mjs";

const cross = (u, v) => [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
const scaled = (v, t) => v.map((x) => x * t);
const plus = (...all) => all.reduce((u, v) => u.map((x, i) => x + v[i]));
const minus = (u, v) => u.map((x, i) => x - v[i]);

// The faces of {<c_j,x> <= b_j}, each a polygon in order around its middle; a flat set has segments.
export function faces(planes) {
  const corners = [];
  for (let i = 0; i < planes.length; i++)
    for (let j = 0; j < i; j++)
      for (let l = 0; l < j; l++) {
        const [p, q, r] = [planes[i], planes[j], planes[l]];
        const [u, v, w] = [cross(q.c, r.c), cross(r.c, p.c), cross(p.c, q.c)];
        const det = dot(p.c, u);
        if (Math.abs(det) < 1e-9) continue;
        const x = scaled(plus(scaled(u, p.b), scaled(v, q.b), scaled(w, r.b)), 1 / det);
        if (planes.some(({ c, b }) => dot(c, x) > b + 1e-9)) continue;
        if (!corners.some((y) => Math.hypot(...minus(x, y)) < 1e-9)) corners.push(x);
      }
  return planes.map(({ c, b, open }) => {
    const own = corners.filter((x) => Math.abs(dot(c, x) - b) < 1e-9);
    if (own.length < 2) return { own: [] };
    const middle = scaled(plus(...own), 1 / own.length);
    const first = minus(own[0], middle);
    const second = cross(c, first);
    const angle = (x) => Math.atan2(dot(minus(x, middle), second), dot(minus(x, middle), first));
    return { own: own.sort((x, y) => angle(x) - angle(y)), open };
  });
}

const FAR = 2.2; // the cone is drawn up to this sum

// Axes and a set in a picture that is turned by dragging its ground; a finger that moves up or down scrolls the page.
export class View {
  constructor(stage, picture, { scale, middle, turned = () => {} }) {
    Object.assign(this, { scale, middle, turned });
    picture.classList.add("turns");
    this.axes = [0, 1, 2].map((i) => ({
      line: picture.appendChild(sv("path", { class: "axis" })),
      text: picture.appendChild(sv("text", { "text-anchor": "middle" }, `x${"₁₂₃"[i]}`)),
    }));
    this.body = picture.appendChild(sv("g"));
    let grip = null;
    picture.addEventListener("pointerdown", (event) => {
      grip = place(picture, event);
      picture.setPointerCapture(event.pointerId);
    });
    picture.addEventListener("pointermove", (event) => {
      if (!grip) return;
      const now = place(picture, event);
      this.turn(this.yaw - (now[0] - grip[0]) / 90, this.pitch + (now[1] - grip[1]) / 90);
      grip = now;
      stage.update();
    });
    for (const end of ["pointerup", "pointercancel"]) picture.addEventListener(end, () => (grip = null));
  }

  // Right, up and towards the eye; the axes as in a corner of a room.
  turn(yaw, pitch) {
    this.yaw = ((((yaw + Math.PI) % (2 * Math.PI)) + 2 * Math.PI) % (2 * Math.PI)) - Math.PI;
    this.pitch = Math.max(-1.5, Math.min(1.5, pitch));
    const [c, s, cp, sp] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
    Object.assign(this, { right: [-s, c, 0], up: [-sp * c, -sp * s, cp], eye: [cp * c, cp * s, sp] });
    this.turned();
  }

  onto(x) {
    const from = x.map((v) => v - this.middle);
    return [165 + this.scale * dot(from, this.right), 165 - this.scale * dot(from, this.up)];
  }

  // The point that stands at (px, py), as far from the eye as x does.
  under(x, px, py) {
    const [x0, y0] = this.onto(x);
    const [dx, dy] = [clip(px, 10, 320) - x0, clip(py, 10, 310) - y0];
    return plus(x, scaled(this.right, dx / this.scale), scaled(this.up, -dy / this.scale));
  }

  draw(kind, k, r) {
    this.axes.forEach(({ line, text }, i) => {
      const tip = [0, 0, 0];
      tip[i] = 160 / this.scale;
      const end = this.onto(tip);
      set(line, { d: path([this.onto([0, 0, 0]), end], false) });
      set(text, { x: end[0], y: end[1] + (i === 2 ? -5 : 15) });
    });
    const planes = constraints(kind, 3, k, r);
    if (kind === "cone") planes.push({ c: [1, 1, 1], b: FAR, open: true });
    if (kind === "simplex") planes.push({ c: [-1, -1, -1], b: -r, open: true });
    const shown = faces(planes).filter(({ own, open }) => own.length > 1 && !open);
    const depth = ({ own }) => dot(scaled(plus(...own), 1 / own.length), this.eye);
    shown.sort((f, g) => depth(f) - depth(g));
    while (this.body.children.length < shown.length) this.body.append(sv("path", { class: "set" }));
    [...this.body.children].forEach((face, i) => {
      set(face, { d: shown[i] ? path(shown[i].own.map((x) => this.onto(x))) : "" });
    });
  }
}

// `sets` are names from topk.mjs with what a reader calls them.
export function solid(root, label, sets, { kind = Object.keys(sets)[0], k = 2, r = 1, a, scale = 200, reach = 1.1, middle = 0.3 }) {
  const stage = new Stage(root, label);
  const picture = stage.panel(330, 320, `${label}, seen in perspective from the side`);
  const degrees = (v) => (v * 180) / Math.PI;
  const view = new View(stage, picture, {
    scale, middle,
    turned() {
      turned.put(degrees(view.yaw));
      tilted.put(degrees(view.pitch));
    },
  }); // prettier-ignore
  const foot = picture.appendChild(sv("path", { class: "guide" }));
  const line = picture.appendChild(sv("path", { class: "dual" }));
  const image = picture.appendChild(sv("circle", { class: "image", r: 6 }));
  const name = picture.appendChild(sv("text", { class: "strong" }, "x"));
  const own = picture.appendChild(sv("text", { class: "strong" }, "a"));

  const limited = (p) => p.map((v) => Math.max(-reach, Math.min(reach, v)));
  const project = () => SETS[kind]({ a, k, r });
  const say = () => {
    const x = project();
    return `a = ${vec(a)}, projection x = ${vec(x)}, dual variable a − x = ${vec(minus(a, x))}`;
  };
  const put = () => entries.forEach((entry, i) => entry.put(a[i]));
  const handle = stage.handle(picture, {
    label: "The point a; left and right move x₁, up and down x₃, page up and down x₂",
    move(x, y) {
      a = limited(view.under(a, x, y));
      put();
    },
    nudge([d0, d1, d2]) {
      a = limited([a[0] + 0.04 * d0, a[1] + 0.04 * d2, a[2] + 0.04 * d1]);
      put();
    },
    value: () => a[0],
    text: say,
  });

  const names = Object.keys(sets);
  if (names.length > 1) {
    stage.choice({ label: "set", options: sets, value: kind, change: (v) => (kind = v) });
  }
  stage.choice({
    label: "k", options: { 1: "1", 2: "2", 3: "3" }, value: String(k), change: (v) => (k = Number(v)),
  }); // prettier-ignore
  if (kind !== "cone") {
    stage.slider({ label: "radius r", min: 0.2, max: 1.5, step: 0.05, value: r, change: (v) => (r = v) });
  }
  const entries = [0, 1, 2].map((i) =>
    stage.slider({
      label: `a${"₁₂₃"[i]}`, min: -reach, max: reach, step: 0.01, value: a[i],
      change: (v) => (a = a.map((u, j) => (i === j ? v : u))),
    })); // prettier-ignore
  const angle = (label, most, change) =>
    stage.slider({ label, min: -most, max: most, step: 1, value: 0, text: (v) => `${fmt(v, 0)}°`, change: (v) => change((v * Math.PI) / 180) });
  const turned = angle("turn", 180, (v) => view.turn(v, view.pitch));
  const tilted = angle("tilt", 86, (v) => view.turn(view.yaw, v));
  view.turn(0.55, 0.36);

  stage.start(() => {
    const x = project();
    const found = certificate(kind, { a, k, r }, x);
    view.draw(kind, k, r);
    const [p, q] = [view.onto(a), view.onto(x)];
    set(foot, { d: path([view.onto([a[0], a[1], 0]), p], false) });
    handle.put(...p);
    set(line, { d: path([p, q], false) });
    set(image, { cx: q[0], cy: q[1] });
    letters(own, name, p, q);
    const caps = k > 1;
    stage.show([
      ["point a", vec(a)],
      ["projection x", vec(x)],
      ["sum s = ⟨1,x⟩", fmt(sum(x))],
      ["dual variable v = a − x", vec(found.v)],
      ...(kind === "cone" ? [["⟨v,x⟩", tiny(dot(found.v, x))]] : [["multiplier λ of s ≤ r", fmt(found.lambda)]]),
      ...(caps ? [["multipliers of the caps", vec(found.mu)]] : []),
      ["multipliers of x ≥ 0", vec(found.nu)],
      ["gap", tiny(found.gap), Math.abs(found.gap) > 1e-9 ? "bad" : "good"],
    ]);
    return { a, x, k, r, kind, ...found };
  }, say);
}
