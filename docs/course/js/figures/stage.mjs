// What the figures share: elements, numbers as text, controls, points that are dragged.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}
export const el = (name, attributes, ...children) =>
  fill(document.createElement(name), attributes, children);
export const sv = (name, attributes, ...children) =>
  fill(document.createElementNS(SVG, name), attributes, children);

// Attributes of an element that is drawn again and again.
export const set = (node, attributes) => {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
};

// Numbers as a reader takes them in: a minus sign, three decimals; a gap by its order.
export function fmt(v, digits = 3) {
  if (!Number.isFinite(v)) return v > 0 ? "+∞" : v < 0 ? "−∞" : "undefined";
  const text = Math.abs(v) < 0.5 * 10 ** -digits ? (0).toFixed(digits) : v.toFixed(digits);
  return text.replace("-", "−");
}
export const vec = (v, digits = 2) => `(${v.map((u) => fmt(u, digits)).join(", ")})`;
export function tiny(v) {
  if (!Number.isFinite(v) || Math.abs(v) >= 0.001) return fmt(v, 4);
  return v === 0 ? "0" : v.toExponential(0).replace(/-/g, "−");
}
export const path = (points, close = true) =>
  points.length ? `M${points.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join("L")}${close ? "Z" : ""}` : "";

const AXES = { ArrowLeft: [-1, 0, 0], ArrowRight: [1, 0, 0], ArrowUp: [0, 1, 0], ArrowDown: [0, -1, 0],
  PageUp: [0, 0, 1], PageDown: [0, 0, -1] }; // prettier-ignore

export class Stage {
  // `root` is the <figure>; `draw` writes the state to the screen and returns the numbers in it.
  constructor(root, label) {
    this.root = root;
    this.label = label;
    this.box = root.querySelector(".interactive-stage");
    this.box.replaceChildren();
    this.panels = el("div", { class: "interactive-panels" });
    this.controls = el("div", { class: "interactive-controls" });
    this.numbers = el("dl", { class: "interactive-numbers" });
    this.live = el("p", { class: "interactive-live", "aria-live": "polite" });
    const side = el("div", { class: "interactive-side" }, this.controls, this.numbers, this.live);
    this.aside = el("div", { class: "interactive-panels" });
    this.box.append(this.panels, this.aside, side);
    // The page's own keys and swipes turn it over.
    for (const kind of ["keydown", "touchstart"]) {
      this.box.addEventListener(kind, (event) => event.stopPropagation(), { passive: true });
    }
    this.times = [];
    root.stage = this;
  }

  // The first drawing is at once, later ones once a frame.
  start(draw, say) {
    Object.assign(this, { draw, say, asked: false });
    this.paint();
  }

  update() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.paint();
    });
  }

  paint() {
    const start = performance.now();
    this.root.state = this.draw();
    this.times.push(performance.now() - start);
    clearTimeout(this.timer); // a screen reader is told where a movement ends
    this.timer = setTimeout(() => (this.live.textContent = this.say()), 400);
  }

  // A picture above, or in `aside` beside controls and numbers.
  panel(width, height, label, where = this.panels) {
    const picture = sv("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label });
    picture.style.setProperty("--width", width);
    where.append(picture);
    return picture;
  }

  // Rows of [name, text], or [name, text, class].
  show(rows) {
    while (this.numbers.children.length < rows.length) {
      this.numbers.append(el("div", {}, el("dt"), el("dd")));
    }
    [...this.numbers.children].slice(rows.length).forEach((row) => row.remove());
    rows.forEach(([name, text, kind], i) => {
      const row = this.numbers.children[i];
      row.className = kind ?? "";
      row.firstChild.textContent = name;
      row.lastChild.textContent = text;
    });
  }

  slider({ label, min, max, step, value, change, text = (v) => fmt(v, 2) }) {
    const input = el("input", { type: "range", min, max, step, "aria-label": label });
    const output = el("output", { "aria-hidden": "true" }); // the slider says its value itself
    const put = (v) => {
      input.value = v;
      output.textContent = text(v);
      input.setAttribute("aria-valuetext", text(v));
    };
    input.addEventListener("input", () => {
      const v = Number(input.value);
      put(v);
      change(v);
      this.update();
    });
    put(value);
    const row = el("label", { class: "interactive-slider" }, el("span", {}, label), input, output);
    this.controls.append(row);
    return { put, row, input };
  }

  // A few options, named {value: text}: a list to select from.
  choice({ label, options, value, change }) {
    const list = el("select", { "aria-label": label });
    for (const [name, text] of Object.entries(options)) {
      list.append(el("option", { value: name, selected: name === value }, text));
    }
    list.addEventListener("change", () => {
      change(list.value);
      this.update();
    });
    const row = el("label", { class: "interactive-choice" }, el("span", {}, label), list);
    this.controls.append(row);
    return { row, list };
  }

  button(label, action) {
    const node = el("button", { type: "button" }, label);
    node.addEventListener("click", () => {
      action();
      this.update();
    });
    this.controls.append(node);
    return node;
  }

  // A point that is dragged by mouse or finger and moved by keys: move(x, y) in coordinates of the
  // picture, nudge([dx, dy, dz]) by steps of 1, Shift 5.
  // With `anywhere` a mouse takes it from wherever it is pressed; a finger there scrolls the page.
  handle(picture, { label, move, nudge, value, text, kind = "point", anywhere = false }) {
    const node = sv(
      "g",
      { class: `interactive-handle ${kind}`, tabindex: 0, role: "slider", "aria-label": label, "aria-roledescription": "movable point", "aria-valuemin": -10, "aria-valuemax": 10 },
      sv("circle", { class: "reach", r: 22 }),
      sv("circle", { class: "halo", r: 12 }),
      sv("circle", { class: "dot", r: 7 }),
    ); // prettier-ignore
    let offset = null;
    const take = (event, held) => {
      node.setPointerCapture(event.pointerId);
      const [x, y] = place(picture, event);
      offset = held ? [x - node.at[0], y - node.at[1]] : [0, 0];
      if (!held) move(x, y);
      this.update();
      node.focus({ preventScroll: true });
      event.preventDefault();
      event.stopPropagation();
    };
    node.addEventListener("pointerdown", (event) => take(event, true));
    if (anywhere) {
      picture.addEventListener("pointerdown", (event) => event.pointerType === "mouse" && take(event, false));
    }
    node.addEventListener("pointermove", (event) => {
      if (!offset) return;
      const [x, y] = place(picture, event);
      move(x - offset[0], y - offset[1]);
      this.update();
    });
    for (const end of ["pointerup", "pointercancel"]) node.addEventListener(end, () => (offset = null));
    node.addEventListener("keydown", (event) => {
      const axis = AXES[event.key];
      if (!axis || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      nudge(axis.map((v) => v * (event.shiftKey ? 5 : 1)));
      this.update();
    });
    picture.append(node);
    node.put = (x, y) => {
      node.at = [x, y];
      set(node, { transform: `translate(${x},${y})`, "aria-valuenow": fmt(value()).replace("−", "-"), "aria-valuetext": text() });
    }; // prettier-ignore
    return node;
  }
}

// A point's letter and its image's, on the far sides of the line between them.
export function letters(own, image, p, q) {
  const [dx, dy] = [p[0] - q[0], p[1] - q[1]];
  const d = Math.hypot(dx, dy);
  const [ux, uy] = d > 1 ? [dx / d, dy / d] : [0.7, -0.7];
  set(own, { x: p[0] + 19 * ux, y: p[1] + 19 * uy + 4, "text-anchor": "middle" });
  set(image, { x: q[0] - 16 * ux, y: q[1] - 16 * uy + 4, "text-anchor": "middle" });
}

// A pointer in the coordinates of a picture, however that is scaled.
export function place(picture, event) {
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
  return [point.x, point.y];
}

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
