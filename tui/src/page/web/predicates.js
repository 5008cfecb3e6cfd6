// The table of predicates, which sorts by any column.

const table = {
  sort: SELF,
  descending: true,
  filter: "",
  columns: [],
};

/** What stands in a cell of a column. */
function shownColumns() {
  const sums = data.predicates.rest.sums;
  const usual = (name, options = {}) => {
    const about = data.predicates.columns[COLUMN[name]];
    const format = (value) => (value === null ? "" : about.is_time ? unit.format(value) : count(value));
    return {
      name,
      title: about.is_time ? `${about.title} ${unit.name}` : about.title,
      help: about.help,
      value: (id) => figure(id, name),
      cell: (id) => format(figure(id, name)),
      rest: () => format(sums[COLUMN[name]]),
      isText: typeof figure(0, name) === "string",
      ...options,
    };
  };
  const short = (name) => usual(name, { cell: (id) => (figure(id, name) === null ? "" : time(figure(id, name))) });
  const share = (of) =>
    el("span", { class: "share", style: { "--share": String(Math.min(1, wholeNs ? of / wholeNs : 0)) } }, percent(of, wholeNs));
  const some = (name) => data.predicates.rows.some((row) => row[COLUMN[name]]);
  const line = usual("line", {
    title: "source",
    value: (id) => placeOf(figure(id, "file"), figure(id, "line")) || null,
    cell: (id) => sourceLink(figure(id, "file"), figure(id, "line"), placeOf(figure(id, "file"), figure(id, "line"))),
    isText: true,
    rest: () => "",
  });
  return [
    usual("predicate", { cell: predicateLink, isText: true, rest: restName }),
    {
      ...usual(SELF),
      name: "share",
      title: "%",
      help: "Share of self time in the work.",
      cell: (id) => share(figure(id, SELF)),
      rest: () => share(sums[COLUMN[SELF]]),
    },
    usual(SELF),
    usual(INCLUSIVE),
    data.head.is_net ? usual("self_ns", { title: `recorded ${unit.name}` }) : null,
    usual("calls"),
    usual("exits"),
    usual("redos"),
    usual("fails"),
    some("exceptions") ? usual("exceptions") : null,
    usual("undone_ns"),
    { ...short("mean_ns"), title: "mean" },
    { ...short("max_ns"), title: "max" },
    usual("determinism", { cell: (id) => figure(id, "determinism") || "", isText: true, rest: () => "" }),
    line,
  ].filter(Boolean);
}

function restName() {
  return `… and ${counted(data.predicates.rest.predicates, "other", "others")}`;
}

/** The predicates of the table that the filter lets through, in order. */
function sortedPredicates() {
  const column = table.columns.find((known) => known.name === table.sort);
  const wanted = table.filter.toLowerCase();
  const shown = data.predicates.rows.map((_, id) => id).filter((id) => nameOf(id).toLowerCase().includes(wanted));
  const sign = table.descending ? -1 : 1;
  const compare = (one, other) => {
    const [a, b] = [column.value(one), column.value(other)];
    if (a === null || b === null) return (a === null) - (b === null);
    const order = typeof a === "string" ? a.localeCompare(b, "en") : a - b;
    return sign * order || one - other;
  };
  return shown.sort(compare);
}

function drawRows() {
  const body = document.querySelector("#profile tbody");
  const rows = sortedPredicates().map((id) =>
    el(
      "tr",
      { "data-id": id, "aria-selected": id === selection.id ? "true" : null, onclick: () => select(id) },
      table.columns.map((column) => el("td", { class: column.isText ? "text" : column.value(id) === 0 ? "zero" : null }, column.cell(id))),
    ),
  );
  body.replaceChildren(...rows);
  for (const head of document.querySelectorAll("#profile th")) {
    const sorted = head.dataset.column === table.sort;
    head.setAttribute("aria-sort", sorted ? (table.descending ? "descending" : "ascending") : "none");
  }
}

/** Numbers with the largest first, texts alphabetically; again the other way round. */
function sortBy(column) {
  table.descending = table.sort === column.name ? !table.descending : !column.isText;
  table.sort = column.name;
  drawRows();
}

function drawPredicates() {
  if (data.predicates.rows.length === 0) {
    section("profile").append(note("No predicate was called in what is looked at."));
    return;
  }
  table.columns = shownColumns();
  const heads = table.columns.map((column) =>
    el(
      "th",
      { class: column.isText ? "text" : null, "data-column": column.name, title: column.help.replaceAll("`", ""), scope: "col" },
      el("button", { onclick: () => sortBy(column) }, column.title),
    ),
  );
  const { predicates } = data.predicates.rest;
  const rest = el("tr", {}, table.columns.map((column) => el("td", { class: column.isText ? "text" : null }, column.rest())));
  const filter = el("input", {
    type: "search",
    placeholder: "filter by name",
    "aria-label": "filter predicates by name",
    oninput: (event) => {
      table.filter = event.target.value;
      drawRows();
    },
  });
  section("profile").append(
    el("div", { class: "tools" }, note(`Times are ${measured}${data.head.is_net ? " (undone, mean and max as recorded)" : ""}; % is of the work, ${time(wholeNs)}. Click a heading to sort, a row for its callers and callees.`), filter),
    el(
      "div",
      { class: "scroll" },
      el("table", {}, el("thead", {}, el("tr", {}, heads)), el("tbody"), predicates ? el("tfoot", {}, rest) : null),
    ),
  );
  drawRows();
  selection.followers.push((id) => {
    for (const row of document.querySelectorAll("#profile tbody tr")) {
      if (Number(row.dataset.id) === id) row.setAttribute("aria-selected", "true");
      else row.removeAttribute("aria-selected");
    }
  });
}
