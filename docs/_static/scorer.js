// Of equals, a page comes before what was generated from docstrings; the rest as Sphinx has it.
var Scorer = {
  score: ([page, , , , score]) => score + (page.startsWith("generated/") ? 0 : 3),
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
