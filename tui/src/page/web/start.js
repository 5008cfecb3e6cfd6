// All parts in their order, then the predicate that the address names, or that of the first finding.

drawHead();
drawAdvice();
drawPredicates();
drawCalls();
drawFlame();
drawTimeline();
drawSource();

function selectByAddress(isFirst) {
  const named = /^#p(\d+)$/.exec(location.hash);
  const id = named ? Number(named[1]) : null;
  const found = data.advice.findings.map((finding) => numberOf(finding.predicate)).find(hasRow);
  if (hasRow(id)) show(id);
  else if (isFirst && data.predicates.rows.length) show(found === undefined ? 0 : found);
}

selectByAddress(true);
window.addEventListener("popstate", () => selectByAddress(false));
