// What to change: the findings of `portmortem advise`.

function drawAdvice() {
  const { findings, more } = data.advice;
  const cards = findings.map((finding) => {
    const place = finding.line ? placeOf(finding.file, finding.line) : "";
    const where = place && sourceLink(finding.file, finding.line, place);
    const id = numberOf(finding.predicate);
    const predicate = id !== null ? predicateLink(id) : el("span", { class: "name" }, finding.predicate);
    return el(
      "li",
      { class: "finding" },
      el("div", { class: "cost" }, el("b", {}, `${finding.share} %`), el("span", {}, time(finding.cost_ns))),
      el(
        "div",
        {},
        el("h3", {}, finding.title),
        el("p", { class: "where" }, where, where ? " · " : null, predicate, el("span", { class: "tag" }, finding.cause), el("span", { class: "tag" }, finding.sure)),
        el("p", {}, finding.evidence),
        el("p", {}, el("b", {}, "Change: "), finding.remedy),
      ),
    );
  });
  fill(
    section("advice"),
    cards.length ? el("ol", { class: "findings" }, cards) : note("Nothing worked here."),
    more ? note(`… and ${count(more)} more: portmortem advise`) : null,
    cards.length ? note("A cost is what a change saves at most. Findings overlap, so costs do not add up. Times are as recorded.") : null,
  );
}
