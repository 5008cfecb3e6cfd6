// The head: which program, which recording, and what its time was.

function drawHead() {
  const head = data.head;
  document.querySelector(".brand").textContent = head.title;
  const about = [
    head.engine,
    head.ending,
    head.began && `recorded ${head.began}`,
    head.machine,
    `${counted(head.events, "event", "events")} in ${counted(head.streams, "stream", "streams")}`,
  ];
  const tile = (name, value, more) =>
    el("div", { class: "tile" }, el("dt", {}, name), el("dd", {}, value), more ? el("dd", { class: "more" }, more) : null);
  const tiles = [
    tile("Work", time(head.work_ns), `${measured}; shares are of it`),
    tile("Predicates", count(data.predicates.rows.length + data.predicates.rest.predicates)),
  ];
  const optional = [
    ["Undone by backtracking", head.undone, "as recorded"],
    ["Choicepoints never used", head.unused_choicepoints],
    ["Collections", head.collections, head.is_net ? "as recorded, beside the work" : "beside the work"],
    ["Waiting", head.waiting],
  ];
  for (const [name, value, more] of optional) {
    if (!value) continue;
    const split = value.match(/^(.*?) \((.*)\)$/) || value.match(/^([\d.]+ %) (.*)$/);
    tiles.push(split ? tile(name, split[1], [split[2], more].filter(Boolean).join(", ")) : tile(name, value, more));
  }
  fill(
    section("top"),
    el("h1", {}, head.command),
    el("p", { class: "about" }, about.filter(Boolean).join(" · ")),
    ...head.filters.map((filter) => el("p", { class: "warning" }, filter)),
    ...head.losses.map((loss) => el("p", { class: "warning" }, loss)),
    el("dl", { class: "tiles" }, tiles),
    wholeBar(),
    note(head.recording),
  );
  const written = `Written by ${head.program}. All of it is in this file; it loads nothing.`;
  document.querySelector("footer").append(...head.remarks.map((remark) => note(remark)), note(written));
}

/** All time as a bar: work, and what is left out. */
function wholeBar() {
  const head = data.head;
  const parts = [["work", head.work_ns], ...head.left_out];
  const all = parts.reduce((sum, [, ns]) => sum + ns, 0);
  if (parts.length === 1 || all === 0) return null;
  const classes = ["work", "waiting", "loading", "collections", "set-up"];
  const classOf = (name) => classes.find((known) => name.includes(known)) || "work";
  const bar = parts.map(([name, ns]) =>
    el("span", { class: classOf(name), style: { "flex-grow": String(ns / all) }, title: `${name}: ${time(ns)}` }),
  );
  const legend = parts.map(([name, ns], at) =>
    el("span", {}, el("i", { class: classOf(name) }), `${name} ${time(ns)}${at === 0 ? ` of ${time(all)}; left out:` : ""}`),
  );
  return el("div", { class: "whole" }, el("div", { class: "bar" }, bar), el("div", { class: "legend" }, legend));
}
