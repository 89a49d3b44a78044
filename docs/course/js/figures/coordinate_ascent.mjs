// Dual coordinate ascent on three classes, step by step: one example after the other gets the best block
// of dual variables, a projection, while the primal and the dual value close in on the optimum.
import { Ascent } from "../coordinate.mjs";
import { LOSSES } from "../losses.mjs";
import { constraints } from "../certificate.mjs";
import { max, sum } from "../simplex.mjs";
import { faces } from "./solid.mjs";
import { Stage, fmt, letters, path, set, still, sv, tiny, vec } from "./stage.mjs";

const NAMES = {
  multiclass_hinge: "hinge", topk_hinge_alpha: "top-2 hinge, alpha", topk_hinge_beta: "top-2 hinge, beta",
  smooth_topk_hinge_beta: "smooth top-2 hinge, beta", softmax: "softmax", topk_entropy_alpha: "top-2 entropy, alpha",
}; // prettier-ignore
const DATA = [
  [0.2, 1.4], [-0.7, 0.9], [0.9, -0.2], [-1.3, -0.6], [-0.6, -1.1], [-0.4, 0.3],
  [1.3, -0.8], [0.7, -1.2], [0.3, 0.4],
]; // prettier-ignore
const CLASSES = [0, 0, 0, 1, 1, 1, 2, 2, 2];
const [WIDTH, HEIGHT] = [320, 300];
const UNIT = 85;
const onto = ([x, y]) => [WIDTH / 2 + UNIT * x, HEIGHT / 2 - UNIT * y];
const SHAPES = ["M0,-9L9,7L-9,7Z", "M-7,-7H7V7H-7Z", "M0,-8A8,8,0,1,1,0,8A8,8,0,1,1,0,-8Z"];
const LENGTH = 60; // steps that are drawn

export function create(root, { loss = "multiclass_hinge", C = 1 } = {}) {
  const stage = new Stage(root, "Dual coordinate ascent");
  let X = DATA.map((x) => [...x]);
  let ascent;
  let history;
  let last;
  const reset = () => {
    const k = loss === "multiclass_hinge" || loss === "softmax" ? 1 : 2;
    ascent = new Ascent({ X, y: CLASSES, m: 3, C, loss: LOSSES[loss], params: { k, gamma: 1 } });
    history = [ascent.certificate()];
    last = null;
  };
  reset();
  const step = () => {
    last = ascent.step();
    history.push(ascent.certificate());
    if (history.length > LENGTH + 1) history.shift();
    count += 1;
  };
  let count = 0;
  const again = () => {
    count = 0;
    reset();
  };

  const plane = stage.panel(WIDTH, HEIGHT, "Examples of three classes and the weights of the classes as arrows");
  plane.append(sv("path", { class: "axis", d: path([[0, HEIGHT / 2], [WIDTH, HEIGHT / 2]], false) }));
  plane.append(sv("path", { class: "axis", d: path([[WIDTH / 2, 0], [WIDTH / 2, HEIGHT]], false) }));
  const arrows = SHAPES.map((_, j) => plane.appendChild(sv("path", { class: `arrow class${j}` })));
  const borders = SHAPES.map(() => plane.appendChild(sv("path", { class: "guide" })));
  const ring = plane.appendChild(sv("circle", { class: "ring", r: 15 }));
  const change = (i, x) => {
    X[i] = x.map((v) => Math.max(-1.6, Math.min(1.6, v)));
    ascent.move(i, X[i]);
    history[history.length - 1] = ascent.certificate();
    last = null;
  };
  const handles = X.map((_, i) => {
    const handle = stage.handle(plane, {
      label: `Example ${i + 1}, class ${CLASSES[i] + 1}`,
      move: (x, y) => change(i, [(x - WIDTH / 2) / UNIT, (HEIGHT / 2 - y) / UNIT]),
      nudge: ([dx, dy]) => change(i, [X[i][0] + 0.05 * dx, X[i][1] + 0.05 * dy]),
      value: () => X[i][0],
      text: () => `at ${vec(X[i])}, dual mass ${fmt(sum(ascent.blocks[i]))}`,
      kind: `class${CLASSES[i]}`,
    });
    handle.querySelector(".dot").replaceWith(sv("path", { class: "dot", d: SHAPES[CLASSES[i]] }));
    return handle;
  });

  const plot = stage.panel(WIDTH, HEIGHT, "Primal and dual value, and the gap on a logarithmic scale, step by step");
  const [primal, dual, gap] = ["primal", "dualvalue", "gapline"].map((name) => plot.appendChild(sv("path", { class: name })));
  const across = (i) => 46 + ((WIDTH - 62) * i) / LENGTH;
  const texts = ["P", "D"].map((t) => plot.appendChild(sv("text", { class: "strong" }, t)));
  plot.append(sv("text", { x: 46, y: 14 }, "primal P and dual D"));
  plot.append(sv("text", { x: 46, y: 166 }, "gap P − D"));
  for (const e of [0, -3, -6, -9, -12]) {
    const y = 180 - (e * 100) / 12;
    plot.append(sv("path", { class: "guide", d: path([[46, y], [WIDTH - 12, y]], false) }));
    plot.append(sv("text", { class: "small", x: 42, y: y + 4, "text-anchor": "end" }, e ? `1e−${-e}` : "1"));
  }

  // The dual set of one example over the two other classes, and what its step does there.
  const dualset = stage.panel(300, 270, "The dual set of the last example, what is projected on it, and its block", stage.aside);
  const title = dualset.appendChild(sv("text", { x: 8, y: 14 }));
  const SPOT = [70, 225];
  const spot = (v) => [SPOT[0] + (155 * v[0]) / C, SPOT[1] - (155 * v[1]) / C];
  dualset.append(sv("path", { class: "axis", d: path([[10, SPOT[1]], [290, SPOT[1]]], false) }));
  dualset.append(sv("path", { class: "axis", d: path([[SPOT[0], 22], [SPOT[0], 265]], false) }));
  const axes = [[280, SPOT[1] + 18], [SPOT[0] - 8, 34]].map(([x, y]) =>
    dualset.appendChild(sv("text", { x, y, "text-anchor": "end" })));
  const ground = dualset.appendChild(sv("path", { class: "set" }));
  const way = dualset.appendChild(sv("path", { class: "dual" }));
  const marks = ["target", "before", "image"].map((kind) => dualset.appendChild(sv("circle", { class: kind, r: 6 })));
  const words = ["b", "before", "x"].map((text, i) => dualset.appendChild(sv("text", { class: i === 1 ? "small" : "strong" }, text)));
  function drawStep() {
    const flat = [...constraints(LOSSES[loss].set, 2, ascent.params.k, C).map(({ c, b }) => ({ c: [...c, 0], b })), { c: [0, 0, -1], b: 0 }, { c: [0, 0, 1], b: 0 }];
    set(ground, { d: path(faces(flat).pop().own.map(spot)) });
    const others = [0, 1, 2].filter((j) => j !== CLASSES[last?.i ?? 0]);
    axes.forEach((text, i) => (text.textContent = `class ${others[i] + 1}`));
    const at = last ? [last.target ?? last.after, last.before, last.after].map(spot) : [0, 1, 2].map(() => [-60, -60]);
    // what is far away stands at the edge
    at[0] = [Math.max(-60, Math.min(276, at[0][0])), Math.max(36, Math.min(262, at[0][1]))];
    at.forEach(([cx, cy], i) => set(marks[i], { cx, cy }));
    for (const part of [marks[0], words[0]]) part.style.display = last?.target ? "" : "none";
    set(way, { d: path([at[0], at[2]], false) });
    letters(words[0], words[2], at[0], at[2]);
    set(words[1], { x: at[1][0] + 10, y: at[1][1] + 18 });
    words[1].style.display = Math.hypot(at[1][0] - at[2][0], at[1][1] - at[2][1]) < 14 ? "none" : "";
    title.textContent = LOSSES[loss].den ? "the last step: a projection" : "the last step";
  }

  const buttons = [
    stage.button("Step", step),
    stage.button("All examples once", () => X.forEach(step)),
    stage.button("Play", () => (still() ? X.forEach(() => X.forEach(step)) : play(!timer))),
    stage.button("Start again", () => {
      play(false);
      X = DATA.map((x) => [...x]);
      again();
    }),
  ];
  let timer = null;
  function play(on) {
    clearInterval(timer);
    timer = null;
    if (on) {
      timer = setInterval(() => {
        step();
        if (history[history.length - 1].gap < 1e-12 || !root.isConnected) play(false);
        stage.update();
      }, 250);
    }
    buttons[2].textContent = on ? "Pause" : "Play";
  }
  stage.choice({
    label: "loss", options: NAMES, value: loss,
    change: (v) => {
      loss = v;
      again();
    },
  }); // prettier-ignore
  stage.slider({
    label: "C", min: -1.3, max: 1, step: 0.1, value: Math.log10(C), text: (v) => fmt(10 ** v, 2),
    change: (v) => {
      C = 10 ** v;
      again();
    },
  }); // prettier-ignore

  const say = () => {
    const now = history[history.length - 1];
    return `${count} steps: primal ${fmt(now.primal)}, dual ${fmt(now.dual)}, gap ${tiny(now.gap)}`;
  };
  stage.start(() => {
    const now = history[history.length - 1];
    const longest = Math.max(1e-9, ...ascent.W.map((w) => Math.hypot(...w)));
    const unit = Math.min(1, 1.5 / longest);
    ascent.W.forEach((w, j) => set(arrows[j], { d: arrow(w.map((v) => v * unit)) }));
    // the borders: where two scores are equal and the third is below
    [[0, 1, 2], [0, 2, 1], [1, 2, 0]].forEach(([i, j, l], n) => {
      const d = ascent.W[i].map((v, t) => v - ascent.W[j][t]);
      const along = [d[1], -d[0]];
      const score = (w, s) => s * (w[0] * along[0] + w[1] * along[1]);
      const sign = [1, -1].find((s) => score(ascent.W[i], s) > score(ascent.W[l], s) + 1e-12);
      const size = Math.hypot(...along);
      const end = along.map((v) => ((sign ?? 0) * 3 * v) / (size || 1));
      set(borders[n], { d: sign ? path([onto([0, 0]), onto(end)], false) : "" });
    });
    X.forEach((x, i) => {
      handles[i].put(...onto(x));
      handles[i].classList.toggle("supports", sum(ascent.blocks[i]) > 1e-12);
    });
    const [x, y] = last ? onto(X[last.i]) : [-50, -50];
    set(ring, { cx: x, cy: y });
    const [low, high] = [Math.min(0, ...history.map((h) => h.dual)), max(history.map((h) => h.primal))];
    const up = (v) => 145 - (120 * (v - low)) / (high - low || 1);
    set(primal, { d: path(history.map((h, i) => [across(i), up(h.primal)]), false) });
    set(dual, { d: path(history.map((h, i) => [across(i), up(h.dual)]), false) });
    set(gap, { d: path(history.map((h, i) => [across(i), 180 - (100 * Math.max(-13, Math.min(1, Math.log10(Math.max(h.gap, 1e-20))))) / 12]), false) });
    const end = across(history.length - 1);
    const apart = Math.max(0, 14 - (up(now.dual) - up(now.primal))) / 2;
    set(texts[0], { x: Math.min(end + 4, WIDTH - 12), y: up(now.primal) + 4 - apart });
    set(texts[1], { x: Math.min(end + 4, WIDTH - 12), y: up(now.dual) + 4 + apart });
    drawStep();
    stage.show([
      ["steps", String(count)],
      ["primal P", fmt(now.primal, 6)],
      ["dual D", fmt(now.dual, 6)],
      ["gap P − D", tiny(now.gap), now.gap < 1e-6 ? "good" : "bad"],
      ["last example", last ? `${last.i + 1}, class ${CLASSES[last.i] + 1}` : "none yet"],
      ["its block x before", last ? vec(last.before) : "–"],
      ["the point projected", last?.target ? vec(last.target) : "–"],
      ["its block after", last ? vec(last.after) : "–"],
    ]);
    return { X, y: CLASSES, C, loss, k: ascent.params.k, W: ascent.W, blocks: ascent.blocks, count, ...now };
  }, say);
}

function arrow(w) {
  const [p, q] = [onto([0, 0]), onto(w)];
  const length = Math.hypot(q[0] - p[0], q[1] - p[1]);
  if (length < 1) return "";
  const [ux, uy] = [(q[0] - p[0]) / length, (q[1] - p[1]) / length];
  const barb = (s) => [q[0] - 9 * ux + s * 5 * uy, q[1] - 9 * uy - s * 5 * ux];
  return path([p, q], false) + path([barb(1), q, barb(-1)], false);
}
