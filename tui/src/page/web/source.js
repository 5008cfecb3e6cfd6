// The source, with figures beside its lines.

/** The file of the page that a path names. */
function fileOf(path) {
  return data.source.files.findIndex((file) => file.name === path);
}

/** A link to a line of the source; without the source a text. */
function sourceLink(path, line, text) {
  const file = fileOf(path);
  if (file < 0 || !line) return el("span", {}, text);
  const go = (event) => {
    event.stopPropagation();
    showLine(file, line);
  };
  return el("button", { class: "link place", onclick: go }, text);
}

/** Opens a file at a line, or at the one before it that is shown. */
function showLine(file, line) {
  const details = document.querySelector(`#source details[data-file="${file}"]`);
  details.open = true;
  drawLines(details);
  const rows = [...details.querySelectorAll("tr[data-line]")];
  const row = rows.findLast((known) => Number(known.dataset.line) <= line) || rows[0];
  if (!row) return;
  document.querySelectorAll("#source .found").forEach((known) => known.classList.remove("found"));
  row.classList.add("found");
  row.scrollIntoView({ block: "center" });
}

function sourceRows(file) {
  const rows = [];
  let before = 0;
  for (const [number, text, goals, predicates] of file.lines) {
    if (file.is_cut && number > before + 1) rows.push(el("tr", { class: "gap" }, el("td", { colspan: "8" }, "⋯")));
    before = number;
    for (const id of predicates) {
      const about = hasRow(id)
        ? `self ${time(figure(id, SELF))} (${percent(figure(id, SELF), wholeNs)} %), ${counted(figure(id, "calls"), "call", "calls")}, ${count(figure(id, "fails"))} failed`
        : "";
      rows.push(el("tr", { class: "predicate" }, el("td", { colspan: "8" }, predicateLink(id), " ", about)));
    }
    const share = goals && workNs ? Math.min(1, goals.served_ns / workNs) : 0;
    const figures = goals
      ? [unit.format(goals.served_ns), percent(goals.served_ns, workNs), ...[goals.calls, goals.exits, goals.redos, goals.fails].map(count)]
      : ["", "", "", "", "", ""];
    rows.push(
      el(
        "tr",
        { "data-line": number, style: goals ? { "--heat": String(share) } : {}, class: goals ? "hot" : null },
        figures.map((cell) => el("td", {}, cell)),
        el("td", { class: "line" }, String(number)),
        el("td", { class: "code" }, text),
      ),
    );
  }
  return rows;
}

/** The work as recorded, which times of goals are a part of. */
const workNs = data.source.work_ns;

/** Makes the lines of a file when it is opened. */
function drawLines(details) {
  const file = data.source.files[Number(details.dataset.file)];
  const body = details.querySelector("tbody");
  if (body.childElementCount === 0) body.append(...sourceRows(file));
}

function drawSource() {
  const { files, others, has_no_goals: hasNoGoals } = data.source;
  const heads = [`served ${unit.name}`, "%", "calls", "exits", "redos", "fails", "line", "source"];
  const shown = files.map((file, at) =>
    el(
      "details",
      { "data-file": at, open: at === 0, ontoggle: (event) => drawLines(event.currentTarget) },
      el("summary", {}, el("b", {}, file.name), ` ${file.shares}`, file.is_cut ? "; only lines near figures are shown" : ""),
      file.remark ? el("p", { class: "warning" }, file.remark) : null,
      el(
        "div",
        { class: "scroll" },
        el("table", { class: "listing" }, el("thead", {}, el("tr", {}, heads.map((head) => el("th", {}, head)))), el("tbody")),
      ),
    ),
  );
  const none = hasNoGoals ? "The recording does not say which goals made calls." : "No goal of a known file called anything.";
  section("source").append(
    note("A line has the time that its goals were served, as recorded, and its share in the work; a line above a predicate has what that did itself."),
    ...(shown.length ? shown : [note(none)]),
    others ? note(`… and ${counted(others, "file has", "files have")} no room here: portmortem annotate`) : "",
  );
  const first = document.querySelector("#source details");
  if (first) drawLines(first);
}
