// Filters the index of duals. Without this script every row is shown.
"use strict";
{
  const form = document.querySelector(".duals-filter");
  const rows = [...document.querySelectorAll("table.duals tr")];
  const selects = [...form.querySelectorAll("select")];
  const search = form.querySelector("input");
  const plain = (text) => text.toLowerCase();

  const apply = () => {
    const words = plain(search.value).split(/\s+/).filter(Boolean);
    const [kind, paper] = selects.map((s) => s.value);
    let shown = 0;
    for (const row of rows) {
      const text = plain(row.textContent + row.id.replaceAll("_", " "));
      row.hidden = Boolean(
        (kind && row.dataset.kind !== kind) ||
        (paper && !row.dataset.papers.split(" ").includes(paper)) ||
        words.some((word) => !text.includes(word)));
      shown += row.hidden ? 0 : 1;
    }
    form.querySelector("output").value = `${shown} of ${rows.length}`;
  };

  // a link to a row that is filtered away shows it
  const arrive = () => {
    const row = document.getElementById(location.hash.slice(1));
    if (row?.hidden) { form.reset(); apply(); row.scrollIntoView(); }
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", arrive);
  form.hidden = false;
  apply();
}
