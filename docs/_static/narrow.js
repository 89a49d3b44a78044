// Tables that are wider than the page become a list of rows, each a line per column that begins with its name.
// Formulas in a line that are wider scroll by themselves. What is wide depends on fonts, so it is measured; without
// this script tables scroll. Figures of several panels are small there, and large after a tap.
(() => {
  const tables = [...document.querySelectorAll("article table, main table")].filter((table) => {
    const names = table.tHead?.rows.length === 1 ? [...table.tHead.rows[0].cells] : [];
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
    const plain = names.length > 1 && !table.querySelector("[colspan]:not([colspan='1']), [rowspan]:not([rowspan='1'])");
    if (!plain || !rows.every((row) => row.cells.length === names.length)) return false;
    for (const row of rows) {
      [...row.cells].forEach((cell, j) => {
        if (!cell.hasChildNodes() || !names[j].textContent.trim()) return;
        const name = document.createElement("span");
        name.className = "column-name";
        const said = names[j].querySelector(":scope > p:only-child") ?? names[j];
        name.append(...[...said.childNodes].map((node) => node.cloneNode(true)));
        cell.prepend(name);
      });
    }
    return true;
  });
  const formulas = [...document.querySelectorAll("article span.math")];
  let width = 0;
  function fit() {
    if (width === window.innerWidth) return;
    width = window.innerWidth;
    for (const table of tables) table.classList.remove("stacked");
    for (const formula of formulas) formula.classList.remove("wide");
    const room = document.querySelector("article")?.clientWidth ?? width;
    const wide = tables.filter((table) => table.offsetWidth > Math.min(room, table.parentElement.clientWidth) + 1);
    for (const table of wide) table.classList.add("stacked");
    const long = formulas.filter((formula) => formula.offsetWidth > Math.min(room, width - 32));
    for (const formula of long) formula.classList.add("wide");
  }
  for (const svg of document.querySelectorAll("figure.wide svg")) {
    svg.addEventListener("click", () => svg.closest("figure").classList.toggle("large"));
  }
  window.addEventListener("resize", fit);
  window.addEventListener("load", fit); // pictures and fonts are there
  document.fonts?.ready.then(() => { width = 0; fit(); });
  fit();
})();
