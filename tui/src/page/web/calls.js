// The call graph around one predicate: callers on the left, callees on the right, and between them
// bands as thick as the time that flows there.

/** A caller or callee. */
function neighbour(of, whole, name) {
  const figures = [counted(of.calls, "call", "calls"), of.redos ? counted(of.redos, "redo", "redos") : null, of.fails ? counted(of.fails, "fail", "fails") : null];
  const shown = name || predicateLink(of.id);
  return el(
    "li",
    { "data-share": whole ? of.ns / whole : 0, title: name ? null : nameOf(of.id), style: { "--colour": name ? "var(--idle)" : colourOf(of.id) } },
    el("div", { class: "line" }, shown, el("b", {}, `${percent(of.ns, whole)} %`)),
    el("div", { class: "line figures" }, el("span", {}, figures.filter(Boolean).join(", ")), el("span", {}, time(of.ns))),
  );
}

function neighbours(title, list, whole, own) {
  const shown = list.shown.map((of) => neighbour(of, whole));
  if (list.others) {
    const [many, sum] = list.others;
    shown.push(neighbour(sum, whole, `… ${counted(many, "other", "others")}`));
  }
  if (own) shown.unshift(own);
  const none = shown.length ? null : note("none recorded");
  return el("div", { class: "side" }, el("h3", {}, title), el("ul", {}, shown), none);
}

/** The predicate itself. */
function card(id) {
  const value = (name) => figure(id, name);
  const row = (name, text) => [el("dt", {}, name), el("dd", {}, text)];
  const ofWork = (ns) => `${time(ns)} · ${percent(ns, wholeNs)} %`;
  const counts = [
    ["calls", "calls"],
    ["by last call", "tail_calls"],
    ["exits", "exits"],
    ["nondet exits", "exits_nondet"],
    ["redos", "redos"],
    ["fails", "fails"],
    ["exceptions", "exceptions"],
    ["choicepoints cut", "cuts"],
    ["open at the end", "open"],
  ];
  const own = data.calls[id].recursive;
  const figures = [
    row("self", ofWork(value(SELF))),
    row("inclusive", ofWork(value(INCLUSIVE))),
    ...counts.filter(([, name]) => value(name)).map(([title, name]) => row(title, count(value(name)))),
    own ? row("calls itself", count(own.calls)) : null,
    data.head.is_net ? row("self, as recorded", time(value("self_ns"))) : null,
    value("undone_ns") ? row("undone by redos into it", time(value("undone_ns"))) : null,
    value("failed_ns") ? row("in activations that failed", time(value("failed_ns"))) : null,
    value("mean_ns") !== null ? row("a call takes", `${time(value("mean_ns"))}, at most ${time(value("max_ns"))}`) : null,
    value("growth") ? row("growth", value("growth")) : null,
  ];
  const place = placeOf(value("file"), value("line"));
  return el(
    "div",
    { class: "card" },
    el("h3", { class: "name" }, nameOf(id)),
    el("p", { class: "where" }, place ? sourceLink(value("file"), value("line"), place) : "no source", value("determinism") ? ` · ${value("determinism")}` : ""),
    el("dl", {}, figures),
  );
}

function drawCallsOf(id) {
  const place = document.querySelector("#calls .graph");
  if (!place || !hasRow(id)) return;
  const whole = figure(id, INCLUSIVE);
  const { callers, callees } = data.calls[id];
  const self = el(
    "li",
    { class: "self", "data-share": whole ? figure(id, SELF) / whole : 0, style: { "--colour": colourOf(id) } },
    el("div", { class: "line" }, el("span", {}, "self"), el("b", {}, `${percent(figure(id, SELF), whole)} %`)),
    el("div", { class: "line figures" }, el("span", {}, ""), el("span", {}, time(figure(id, SELF)))),
  );
  const bands = document.createElementNS(SVG, "svg");
  bands.setAttribute("aria-hidden", "true");
  place.replaceChildren(bands, neighbours("Callers", callers, whole), card(id), neighbours("Callees", callees, whole, self));
  drawBands();
}

/** So thick is the band of all time of the predicate. */
const THICK = 72;

function drawBands() {
  const place = document.querySelector("#calls .graph");
  const bands = place && place.querySelector("svg");
  if (!bands || !place.offsetParent) return;
  const origin = place.getBoundingClientRect();
  const box = place.querySelector(".card").getBoundingClientRect();
  bands.replaceChildren();
  // Side by side only: on a narrow page the parts stand below one another.
  const [callers, callees] = place.querySelectorAll(".side");
  if (callers.getBoundingClientRect().right > box.left) return;
  const side = (list, isLeft) => {
    let at = box.top - origin.top + 24;
    for (const item of list.querySelectorAll("li")) {
      const share = Math.min(1, Number(item.dataset.share));
      const thick = Math.max(1, share * THICK);
      const to = item.getBoundingClientRect();
      const middle = to.top - origin.top + to.height / 2;
      const [x1, x2] = isLeft ? [to.right - origin.left, box.left - origin.left] : [box.right - origin.left, to.left - origin.left];
      const [y1, y2] = isLeft ? [middle, at + thick / 2] : [at + thick / 2, middle];
      const outer = Math.min(thick, to.height - 8);
      const [t1, t2] = isLeft ? [outer, thick] : [thick, outer];
      const bend = (x1 + x2) / 2;
      const path = document.createElementNS(SVG, "path");
      path.setAttribute(
        "d",
        `M${x1},${y1 - t1 / 2} C${bend},${y1 - t1 / 2} ${bend},${y2 - t2 / 2} ${x2},${y2 - t2 / 2}` +
          ` L${x2},${y2 + t2 / 2} C${bend},${y2 + t2 / 2} ${bend},${y1 + t1 / 2} ${x1},${y1 + t1 / 2} Z`,
      );
      path.style.fill = item.style.getPropertyValue("--colour");
      bands.append(path);
      at += thick;
    }
  };
  side(callers, true);
  side(callees, false);
}

function drawCalls() {
  if (data.predicates.rows.length === 0) {
    section("calls").append(note("No predicate was called in what is looked at."));
    return;
  }
  section("calls").append(
    note(`Times are of work, ${measured}. Those of the callers add up to the inclusive time of the predicate, and so do its own and those of the callees. Click a name to go there; the browser goes back.`),
    el("div", { class: "graph" }),
  );
  selection.followers.push(drawCallsOf);
  window.addEventListener("resize", drawBands);
}
