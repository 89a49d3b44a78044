"use strict";
// Slides: arrows, space, swipes; o shows all, n the speaker's notes, s the notes in a window of their own.
const slides = [...document.querySelectorAll("main > section")], start = Date.now();
const $ = (id) => document.getElementById(id), body = document.body;
let at = Math.min(Math.max((parseInt(location.hash.slice(1), 10) || 1) - 1, 0), slides.length - 1), other = null;

function fit(section, width, height) {
  // The largest type, from 34 pixels down to 15, with which the slide is full and not fuller.
  const style = section.style, inner = section.firstElementChild;
  style.width = width + "px"; style.height = height + "px";
  const room = height - 84, fits = () => inner.scrollHeight <= room && inner.scrollWidth <= inner.clientWidth + 1;
  let size = 34;
  section.classList.toggle("narrow", width < 720);
  const wide = inner.querySelectorAll("div.math, .cell_output pre");
  for (const m of wide) m.style.fontSize = "";
  do style.fontSize = size + "px"; while (!fits() && --size >= 15);
  for (const m of wide) if (m.scrollWidth > m.clientWidth) m.style.fontSize = Math.max(0.55, ((m.tagName === "PRE" ? 0.82 : 1.12) * m.clientWidth) / m.scrollWidth) + "em";
  section.classList.toggle("scroll", inner.scrollHeight > room);
}

function frame() {
  // A wide screen shows 1280 by 720, scaled; a phone held upright a narrow slide with as large a type.
  const w = innerWidth, h = (body.classList.contains("notes") ? 0.62 : 1) * innerHeight - 10;
  const width = w < 0.8 * h || w < 600 ? 620 : 1280, scale = w < 600 ? w / width : Math.min(w / width, h / 720);
  const height = width === 620 ? Math.max(h / scale - 40, 300) : 720;
  return { width, height, scale, left: Math.max(0, (w - width * scale) / 2), top: Math.max(0, (h - height * scale) / 2) };
}

function show(number) {
  if (number !== null) at = Math.min(Math.max(number, 0), slides.length - 1);
  history.replaceState(null, "", "#" + (at + 1));
  const { width, height, scale, left, top } = frame();
  slides.forEach((s, i) => s.classList.toggle("now", i === at));
  const now = slides[at];
  now.style.padding = width === 620 ? "24px 28px 40px" : "";
  fit(now, width, height);
  now.style.transform = `translate(${left}px, ${top}px) scale(${scale})`;
  $("at").textContent = `${at + 1}/${slides.length}`;
  $("bar").style.width = (100 * (at + 1)) / slides.length + "%";
  tell();
}

function tell() {
  const clock = new Date(Date.now() - start).toISOString().slice(11, 19), next = slides[at + 1];
  const title = next ? `<p><small>next: ${next.querySelector("h2").lastChild.textContent}</small></p>` : "";
  const text = `<b>${clock}</b>${slides[at].querySelector("aside").innerHTML}${title}`;
  $("notes").innerHTML = text;
  if (other && !other.closed) other.document.body.innerHTML = text;
}

function all(on) {
  // Each slide in a frame of its own, an eighth to a quarter of its size.
  body.classList.toggle("all", on);
  if (!on) {
    for (const s of slides) { s.style.display = ""; if (s.parentNode.tagName === "DIV") s.parentNode.replaceWith(s); }
    return show(null);
  }
  slides.forEach((s, i) => {
    const box = document.createElement("div");
    s.replaceWith(box); box.append(s);
    box.classList.toggle("now", i === at);
    s.style.display = "block"; s.style.padding = "";
    fit(s, 1280, 720);
    const scale = box.clientWidth / 1280;
    s.style.transform = `scale(${scale})`;
    box.style.height = 720 * scale + "px";
    box.addEventListener("click", (e) => { e.preventDefault(); e.stopPropagation(); at = i; all(false); }, true);
  });
}

const leave = () => body.classList.contains("all") && (all(false), true);
const actions = {
  f: () => show(at + 1), p: () => show(at - 1), h: () => show(0), e: () => show(slides.length - 1),
  n: () => { body.classList.toggle("notes"); show(null); },
  o: () => leave() || all(true),
  s: () => {
    other = window.open("", "notes", "width=700,height=600");
    if (other) { other.document.title = "Speaker's notes"; other.document.body.style.cssText = "font: 22px/1.45 sans-serif; margin: 1em"; other.document.onkeydown = onkey; tell(); }
  },
};
const keys = { ArrowRight: "f", ArrowDown: "f", PageDown: "f", " ": "f", ArrowLeft: "p", ArrowUp: "p", PageUp: "p", Home: "h", End: "e", n: "n", o: "o", s: "s" };

function onkey(event) {
  // A figure, a cell or a field that has the focus keeps its keys.
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.target.closest && event.target.closest("input, select, textarea, summary, canvas, [role=slider], [tabindex]")) return;
  if (event.key === "Escape") leave();
  const action = actions[event.shiftKey && event.key === " " ? "p" : keys[event.key]];
  if (action) { event.preventDefault(); action(); }
}
document.addEventListener("keydown", onkey);
for (const b of document.querySelectorAll("#foot button")) b.addEventListener("click", () => { actions[b.dataset.key](); b.blur(); });
let from = null;
document.addEventListener("touchstart", (e) => {
  from = e.touches.length === 1 && !e.target.closest("canvas, svg[tabindex], input, .interactive, div.math, pre") ? e.touches[0] : null;
}, { passive: true });
document.addEventListener("touchend", (e) => {
  if (!from || body.classList.contains("all")) return;
  const x = e.changedTouches[0].clientX - from.clientX, y = e.changedTouches[0].clientY - from.clientY;
  if (Math.abs(x) > 50 && Math.abs(x) > 2 * Math.abs(y)) show(at + (x < 0 ? 1 : -1));
}, { passive: true });
addEventListener("resize", () => { if (leave()) all(true); else show(null); });
addEventListener("hashchange", () => show((parseInt(location.hash.slice(1), 10) || 1) - 1));
document.addEventListener("toggle", () => show(null), true);
addEventListener("beforeprint", () => {
  leave();
  for (const s of slides) { s.style.display = "block"; s.style.padding = ""; fit(s, 1280, 720); s.style.display = ""; }
});
addEventListener("afterprint", () => show(null));
if (matchMedia("print").matches) dispatchEvent(new Event("beforeprint"));
setInterval(() => (other || body.classList.contains("notes")) && tell(), 1000);
document.fonts.ready.then(() => show(null));
show(null);
