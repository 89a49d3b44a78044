// A ranking whose items are dragged along the axis of scores: its average precision, the structured
// hinge that bounds 1 − AP, and the ranking in which the bound is attained.
import { averagePrecision, lossAugmented, split } from "../ranking.mjs";
import { Stage, fmt, path, set, sv } from "./stage.mjs";

const [WIDTH, LANE, TOP] = [340, 32, 14];
const RANGE = 2;
const across = (s) => 24 + ((WIDTH - 48) * (s + RANGE)) / (2 * RANGE);

export function create(root, { scores = [1.1, 0.4, -0.6, 0.9, 0.1, -0.2, -1.2], y = [1, 1, 1, 0, 0, 0, 0] } = {}) {
  const stage = new Stage(root, "A ranking and its average precision");
  scores = [...scores];
  const names = y.map((v, i) => `${v > 0 ? "+" : "−"}${y.slice(0, i + 1).filter((u) => u === v).length}`);
  const height = TOP + LANE * y.length + 26;
  const lanes = stage.panel(WIDTH, height, "The items on the axis of scores; right is ranked higher");
  y.forEach((_, i) => {
    const at = TOP + LANE * (i + 0.5);
    lanes.append(sv("path", { class: "guide", d: path([[12, at], [WIDTH - 12, at]], false) }));
  });
  for (let s = -RANGE; s <= RANGE; s++) {
    lanes.append(sv("text", { class: "small", x: across(s), y: height - 6, "text-anchor": "middle" }, fmt(s, 0)));
  }
  lanes.append(sv("path", { class: "axis", d: path([[12, height - 20], [WIDTH - 12, height - 20]], false) }));
  const move = (i, s) => (scores[i] = Math.max(-RANGE, Math.min(RANGE, s)));
  const handles = y.map((v, i) => {
    const handle = stage.handle(lanes, {
      label: `Score of the ${v > 0 ? "positive" : "negative"} item ${names[i]}`,
      move: (x) => move(i, ((x - 24) * 2 * RANGE) / (WIDTH - 48) - RANGE),
      nudge: ([dx, dy]) => move(i, scores[i] + 0.05 * (dx + dy)),
      value: () => scores[i],
      text: () => `${fmt(scores[i], 2)}, rank ${byScore().indexOf(i) + 1} of ${y.length}`,
      kind: v > 0 ? "item" : "item dualpoint",
    });
    handle.querySelector(".dot").replaceWith(
      v > 0 ? sv("circle", { class: "dot", r: 12 }) : sv("rect", { class: "dot", x: -11, y: -11, width: 22, height: 22 }),
      sv("text", { class: "sign", y: 4, "text-anchor": "middle" }, names[i]),
    );
    handle.querySelector(".halo").setAttribute("r", 15);
    return handle;
  });
  // Ties are broken against the positives.
  const byScore = () => scores.map((_, i) => i).sort((i, j) => scores[j] - scores[i] || y[i] - y[j] || i - j);

  const rows = stage.panel(WIDTH, 165, "The ranking by score, and the most violated ranking");
  const row = (text, at) => {
    rows.append(sv("text", { x: 8, y: at }, text));
    return y.map((v, i) => {
      const chip = sv("g", { class: v > 0 ? "chip" : "chip dualpoint" },
        v > 0 ? sv("circle", { class: "dot", r: 15 }) : sv("rect", { class: "dot", x: -14, y: -14, width: 28, height: 28 }),
        sv("text", { class: "sign", y: 4, "text-anchor": "middle" }, names[i])); // prettier-ignore
      return rows.appendChild(chip);
    });
  };
  const mine = row("by score, the best first", 18);
  const worst = row("the most violated: largest 1 − AP plus what it costs", 108);
  const place = (chips, order, at) =>
    order.forEach((i, rank) => set(chips[i], { transform: `translate(${26 + ((WIDTH - 52) * rank) / (y.length - 1)},${at})` }));

  const say = () => {
    const found = lossAugmented(scores, y);
    return `average precision ${fmt(averagePrecision(scores, y))}, bound ${fmt(found.value)} on 1 − AP; most violated: ${found.order.map((i) => names[i]).join(" ")}`;
  };
  stage.start(() => {
    const ap = averagePrecision(scores, y);
    const found = lossAugmented(scores, y);
    handles.forEach((handle, i) => handle.put(across(scores[i]), TOP + LANE * (i + 0.5)));
    place(mine, byScore(), 46);
    place(worst, found.order, 136);
    const [positives] = split(scores, y);
    stage.show([
      ["average precision AP", fmt(ap)],
      ["loss 1 − AP", fmt(1 - ap)],
      ["bound L ≥ 1 − AP", fmt(found.value)],
      ["1 − AP of the most violated", fmt(found.loss)],
      ["what its inversions cost", fmt(found.value - found.loss)],
      ["negatives above each positive there", positives.map((_, k) => found.counts[k]).join(", ")],
    ]);
    return { scores, y, ap, ...found };
  }, say);
}
