// The timeline: which predicate was at which depth when. A row is one depth, the outermost first; a
// box is as high as the part of its column of time in which it was there.

const NO_BOX = -1;
const UNKNOWN = -2;
const DEPTH_HEIGHT = 15;
const FAILS_HEIGHT = 22;

/** By column: the value there. */
function unpacked(runs) {
  const values = [];
  for (let at = 0; at < runs.length; at += 2) {
    for (let many = runs[at + 1]; many > 0; many -= 1) values.push(runs[at]);
  }
  return values;
}

/** The colour of a name or of `hsl(… var(--x))`, as a canvas takes it. */
function resolved(colour, probe) {
  probe.style.color = colour;
  return getComputedStyle(probe).color;
}

function drawStream(stream, canvas) {
  const width = canvas.parentElement.clientWidth;
  const height = stream.grid.length * DEPTH_HEIGHT + FAILS_HEIGHT;
  const scale = window.devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.height = `${height}px`;
  const paint = canvas.getContext("2d");
  paint.scale(scale, scale);
  const colours = new Map();
  const colour = (text) => {
    if (!colours.has(text)) colours.set(text, resolved(text, canvas));
    return colours.get(text);
  };
  const { columns, steps } = data.timeline;
  const x = (column) => (column * width) / columns;
  stream.grid.forEach((row, depth) => {
    const bottom = (depth + 1) * DEPTH_HEIGHT - 1;
    let begin = 0;
    while (begin < columns) {
      let end = begin + 1;
      while (end < columns && row[end] === row[begin]) end += 1;
      const value = row[begin];
      if (value >= 0) {
        const id = Math.floor(value / steps);
        const high = ((value % steps) + 1) / steps;
        const tall = Math.max(2, high * (DEPTH_HEIGHT - 1));
        paint.fillStyle = colour(colourOf(id));
        paint.fillRect(x(begin), bottom - tall, x(end) - x(begin) - (end - begin > 3 ? 0.6 : 0), tall);
        label(paint, nameOf(id), x(begin), x(end), bottom, high, colour);
      } else if (value === UNKNOWN) {
        paint.fillStyle = colour("var(--line)");
        paint.fillRect(x(begin), bottom - 3, x(end) - x(begin), 1);
      }
      begin = end;
    }
  });
  const most = Math.max(1, ...stream.fails);
  paint.fillStyle = colour("var(--bad)");
  stream.fails.forEach((fails, column) => {
    const tall = fails ? Math.max(1, (fails / most) * (FAILS_HEIGHT - 8)) : 0;
    paint.fillRect(x(column), height - tall, x(column + 1) - x(column), tall);
  });
}

/** The name in a box that has room for it. */
function label(paint, name, from, to, bottom, high, colour) {
  if (high < 1 || to - from < 36) return;
  paint.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  let text = name;
  while (text && paint.measureText(`${text}…`).width > to - from - 8) text = text.slice(0, -1);
  if (text.length < Math.min(3, name.length)) return;
  paint.fillStyle = colour("var(--on-box)");
  paint.fillText(text === name ? text : `${text}…`, from + 4, bottom - 3.5);
}

/** Times at the columns where a ruler has marks. */
function ruler() {
  const { from_ns: from, to_ns: to } = data.timeline;
  const marks = [0, 0.25, 0.5, 0.75, 1].map((part) => el("span", {}, time(Math.round(from + (to - from) * part))));
  return el("div", { class: "ruler" }, marks);
}

/** What is at a place of a stream. */
function timelineText(stream, column, depth) {
  const { from_ns: from, to_ns: to, columns, steps } = data.timeline;
  const at = from + ((to - from) * column) / columns;
  const value = stream.grid[depth] ? stream.grid[depth][column] : NO_BOX;
  const id = value >= 0 ? Math.floor(value / steps) : null;
  const what = id !== null ? `${nameOf(id)} at depth ${depth}` : value === UNKNOWN ? "not known" : "";
  const happened = `${counted(stream.events[column], "event", "events")}, ${counted(stream.fails[column], "fail", "fails")} in ${time(Math.round((to - from) / columns))}`;
  return { id, text: [`at ${time(Math.round(at))}`, what, happened].filter(Boolean).join(" — ") };
}

function drawTimeline() {
  const { streams, others, others_ns: othersNs } = data.timeline;
  if (streams.length === 0) {
    section("timeline").append(note("There are no events in what is looked at."));
    return;
  }
  const said = el("p", { class: "said" }, "\u00a0");
  const bands = streams.map((stream) => {
    stream.grid = stream.rows.map(unpacked);
    const canvas = el("canvas", { role: "img", "aria-label": `timeline of ${stream.title}` });
    const find = (event) => {
      const box = canvas.getBoundingClientRect();
      const column = Math.floor(((event.clientX - box.left) / box.width) * data.timeline.columns);
      const depth = Math.floor((event.clientY - box.top) / DEPTH_HEIGHT);
      return timelineText(stream, Math.min(Math.max(column, 0), data.timeline.columns - 1), depth);
    };
    canvas.addEventListener("mousemove", (event) => {
      const found = find(event);
      said.textContent = found.text;
      canvas.style.cursor = hasRow(found.id) ? "pointer" : "default";
    });
    canvas.addEventListener("click", (event) => {
      const { id } = find(event);
      if (hasRow(id)) select(id);
    });
    const deeper = stream.depth > stream.rows.length ? `, ${count(stream.depth)} deep, of which ${count(stream.rows.length)} are shown` : "";
    return { stream, canvas, band: el("div", { class: "stream" }, el("h3", {}, `${stream.title}: ${time(stream.worked_ns)} without waiting${deeper}`), el("div", { class: "paper" }, canvas)) };
  });
  section("timeline").append(
    note("The boxes of the active chain by depth, the outermost on top, as recorded, with waiting and collections. Where several were in a column of time, the longest is shown; a low box was there for a part of it. Fails are red below. Click a box for its callers and callees."),
    kindLegend(true),
    said,
    ruler(),
    ...bands.map(({ band }) => band),
    others ? note(`… and ${counted(others, "other stream", "other streams")} with ${time(othersNs)}.`) : "",
  );
  const draw = () => bands.forEach(({ stream, canvas }) => drawStream(stream, canvas));
  draw();
  window.addEventListener("resize", draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}
