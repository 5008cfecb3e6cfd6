// The flame graph: the call tree from the top down, a box as wide as the time in it and below.

/** Boxes that are narrower, in pixels, are not drawn. */
const NARROW = 1.5;
const ROW_HEIGHT = 20;

const flame = { nodes: [], zoomed: 0 };

/** The tree: node 0 is around all others. */
function flameTree() {
  const nodes = [{ id: null, own: 0, total: 0, depth: 0, parent: null, below: [] }];
  const open = [0];
  for (const [depth, id, own] of data.flame.frames) {
    open.length = depth + 1;
    const parent = open[depth];
    const at = nodes.length;
    nodes.push({ id, own, total: own, depth: depth + 1, parent, below: [], folded: id === null });
    nodes[parent].below.push(at);
    open.push(at);
  }
  for (let at = nodes.length - 1; at > 0; at -= 1) nodes[nodes[at].parent].total += nodes[at].total;
  return nodes;
}

function flameName(at) {
  const node = flame.nodes[at];
  if (at === 0) return data.head.title;
  return node.folded ? "small rows, folded" : nameOf(node.id);
}

/** What is said of a box. */
function flameText(at) {
  const node = flame.nodes[at];
  const share = `${percent(node.total, flame.nodes[0].total)} % of the work`;
  return `${flameName(at)} — ${time(node.total)}, ${share}; self ${time(node.own)}`;
}

function flameBox(at, left, width, pixels) {
  const node = flame.nodes[at];
  const isAround = node.depth < flame.nodes[flame.zoomed].depth;
  const classes = ["frame", isAround ? "around" : null, node.id !== null && node.id === selection.id ? "same" : null, pixels > 24 ? null : "tiny"];
  const name = flameName(at);
  const style = { left: `${left * 100}%`, width: `${width * 100}%`, top: `${node.depth * ROW_HEIGHT}px` };
  style["--colour"] = at === 0 || node.folded ? "var(--idle)" : colourOf(node.id);
  return el(
    "button",
    {
      class: classes.filter(Boolean).join(" "),
      "data-node": at,
      title: flameText(at),
      style,
      onclick: () => zoomTo(at),
      onmouseenter: () => sayFlame(at),
      onfocus: () => sayFlame(at),
    },
    pixels > 24 ? name : "",
  );
}

function drawFlameBoxes() {
  const place = document.querySelector("#flame .flames");
  if (!place) return;
  const pixels = place.clientWidth || 1000;
  const boxes = [];
  let depth = 0;
  for (let at = flame.nodes[flame.zoomed].parent; at !== null; at = flame.nodes[at].parent) boxes.push(flameBox(at, 0, 1, pixels));
  const draw = [[flame.zoomed, 0, 1]];
  while (draw.length) {
    const [at, left, width] = draw.pop();
    const node = flame.nodes[at];
    boxes.push(flameBox(at, left, width, width * pixels));
    depth = Math.max(depth, node.depth);
    let begin = left;
    for (const below of node.below) {
      const part = node.total ? (flame.nodes[below].total / node.total) * width : 0;
      if (part * pixels >= NARROW) draw.push([below, begin, part]);
      begin += part;
    }
  }
  place.style.height = `${(depth + 1) * ROW_HEIGHT}px`;
  place.replaceChildren(...boxes);
}

/** What the line above the boxes says: of a box, or of the one that is shown as all. */
function sayFlame(at) {
  const line = document.querySelector("#flame .said");
  const node = flame.nodes[at];
  const calls = hasRow(node.id) ? el("button", { class: "link", onclick: () => select(node.id) }, "callers and callees") : null;
  line.replaceChildren(el("span", {}, flameText(at)), calls || "");
}

/** Shows a box as if it were all. */
function zoomTo(at) {
  flame.zoomed = at;
  document.querySelector("#flame .reset").disabled = at === 0;
  drawFlameBoxes();
  sayFlame(at);
}

function drawFlame() {
  flame.nodes = flameTree();
  if (flame.nodes.length === 1) {
    section("flame").append(note("Nothing worked in what is looked at."));
    return;
  }
  const { small, least, deep, of } = data.flame;
  const folded = [
    small ? `${count(small)} of ${counted(of, "row", "rows")} below ${Number(least.toPrecision(2))} % of the work are folded.` : null,
    deep ? `${counted(deep, "row is", "rows are")} too deep and folded.` : null,
  ];
  section("flame").append(
    el(
      "div",
      { class: "tools" },
      note(`The call tree; widths are work, ${measured}, without waiting, loading and collections. Click a box to zoom. `, folded.filter(Boolean).join(" ")),
      el("button", { class: "reset", disabled: true, onclick: () => zoomTo(0) }, "all"),
    ),
    kindLegend(),
    el("p", { class: "said" }),
    el("div", { class: "flames" }),
  );
  zoomTo(0);
  selection.followers.push((id) => {
    for (const box of document.querySelectorAll("#flame .frame")) {
      box.classList.toggle("same", flame.nodes[box.dataset.node].id === id && id !== null);
    }
  });
  window.addEventListener("resize", drawFlameBoxes);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && flame.zoomed !== 0) zoomTo(flame.nodes[flame.zoomed].parent);
  });
}

/** What the colours of boxes mean. */
function kindLegend(isTimeline = false) {
  const kinds = [
    ["program", "program"],
    ["library", "libraries"],
    ["engine", "built-in"],
    [null, isTimeline ? "waiting, loading, collections" : "folded"],
  ];
  return el(
    "div",
    { class: "legend" },
    kinds.map(([kind, text]) => el("span", {}, el("i", { style: { background: colourOfKind(kind) } }), text)),
  );
}
