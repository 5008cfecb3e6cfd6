"use strict";

// What all parts of the page use. Texts of the trace are only ever put in as text, never as HTML.

const data = JSON.parse(document.getElementById("data").textContent);

/** An element with attributes, properties that begin with "on", and children. */
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "style") Object.entries(value).forEach(([key, of]) => made.style.setProperty(key, of));
    else made.setAttribute(name, value === true ? "" : value);
  }
  fill(made, ...children);
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

function section(id) {
  return document.getElementById(id);
}

/** Adds children to an element, those that there are. */
function fill(element, ...children) {
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
}

function note(...children) {
  return el("p", { class: "note" }, ...children);
}

/** 5,000,050,000 */
function count(value) {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

function counted(value, one, many) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A time on its own, with four digits: 1.235 ms. */
function time(ns) {
  const of = (value, unit) => {
    const decimals = value < 10 ? 3 : value < 100 ? 2 : value < 1000 ? 1 : 0;
    return `${value.toFixed(decimals)} ${unit}`;
  };
  if (ns === 0) return "0";
  if (ns < 1e3) return `${ns} ns`;
  if (ns < 1e6) return of(ns / 1e3, "µs");
  if (ns < 1e9) return of(ns / 1e6, "ms");
  return of(ns / 1e9, "s");
}

/** The unit that all times of a table are written in, so that they can be compared at a glance. */
function unitFor(longest) {
  const unit = (name, divisor, decimals) => ({ name, format: (ns) => (ns / divisor).toFixed(decimals) });
  if (longest >= 1e10) return unit("s", 1e9, 3);
  if (longest >= 1e9) return unit("ms", 1e6, 1);
  if (longest >= 1e6) return unit("ms", 1e6, 3);
  return unit("µs", 1e3, 1);
}

/** 41.7, in percent; a dash of nothing. */
function percent(part, whole) {
  return whole === 0 ? "–" : ((part * 100) / whole).toFixed(1);
}

const unit = unitFor(data.head.work_ns);
const wholeNs = data.head.work_ns;
const measured = data.head.is_net ? "net" : "as recorded";

/** Name of a predicate; of no number, of who called without a recorded box. */
function nameOf(id) {
  return id === null ? "<root>" : data.names[id].name;
}

/** The number of the predicate of a name; null if the page does not know it. */
function numberOf(name) {
  const id = data.names.findIndex((known) => known.name === name);
  return id < 0 ? null : id;
}

function kindOf(id) {
  return id === null ? "folded" : data.names[id].kind;
}

const HUES = { program: [6, 50], library: [198, 232], engine: [150, 180] };

/** A colour of a kind of predicates, moved by a number from 0 to 1; the style says how light it is. */
function colourOfKind(kind, moved = 0.5) {
  const range = HUES[kind];
  if (!range) return "var(--idle)";
  const hue = Math.round(range[0] + moved * (range[1] - range[0]));
  const lighter = Math.round(((moved * 7) % 1) * 8 - 4);
  return `hsl(${hue} var(--vivid) calc(var(--light) + ${lighter}%))`;
}

/** The colour of the box of a predicate: that of its kind, moved by its name, so that neighbours differ. */
function colourOf(id) {
  let hash = 2166136261;
  for (const letter of nameOf(id)) hash = Math.imul(hash ^ letter.codePointAt(0), 16777619);
  hash = Math.imul(hash ^ (hash >>> 15), 2246822519);
  return colourOfKind(kindOf(id), ((hash >>> 8) % 997) / 997);
}

/** The number of the selected predicate, and who wants to know of another one. */
const selection = { id: null, followers: [] };

/** Shows a predicate wherever it is in the page. */
function show(id) {
  selection.id = id;
  selection.followers.forEach((follow) => follow(id));
}

/** The same where a user asks for it: the browser's way back leads to the one before. */
function select(id) {
  show(id);
  const place = `#p${id}`;
  if (location.hash !== place) history.pushState(null, "", place);
  section("calls").scrollIntoView({ block: "nearest" });
}

/** Whether a predicate has a row in the table. */
function hasRow(id) {
  return id !== null && id < data.predicates.rows.length;
}

/** The name of a predicate, which selects it if it is in the table. */
function predicateLink(id) {
  if (!hasRow(id)) return el("span", { class: "name" }, nameOf(id));
  return el("button", { class: "link name", onclick: () => select(id) }, nameOf(id));
}

const COLUMN = Object.fromEntries(data.predicates.columns.map((column, place) => [column.name, place]));

/** A figure of a predicate of the table. */
function figure(id, column) {
  return data.predicates.rows[id][COLUMN[column]];
}

const SELF = data.head.is_net ? "self_comp_ns" : "self_ns";
const INCLUSIVE = data.head.is_net ? "inclusive_comp_ns" : "inclusive_ns";

/** The file without its directories, and the line. */
function placeOf(file, line) {
  if (!file) return "";
  const name = file.split("/").pop();
  return line ? `${name}:${line}` : name;
}
