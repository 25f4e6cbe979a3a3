// The heads of MiniLM: their maps, and a cell of one opened down to its products.

import { bracketed, fixed } from "../../web/scene/numbers.js";
import { column, framed, grid, lines, overlaid, row, text } from "../../web/scene/layout.js";
import { heatmap, matrix } from "../../web/scene/matrix.js";
import { line, rect } from "../../web/scene/marks.js";
import { plot } from "../../web/scene/plot.js";

/** A map with the names of its tokens, and what it is below. */
function named(names, weights, title, tip) {
  const cells = {
    kind: "weights",
    digits: -1,
    cell: Math.min(1.3, 17 / names.length),
    rows: names,
    cols: names,
    tip,
  };
  return column(matrix("big", weights, cells), text("big/title", title, "bold"));
}

/** The maps of a layer, one of them large. */
export function trained({ trained: read }, { inputs }) {
  const head = Number(inputs.head);
  const { tokens: names, weights, names: habits, layer: depth, scores } = read;
  const small = weights.map((each, i) => {
    const chosen = i === head;
    const press = { label: `Head ${i}: ${habits[i]}`, pressed: chosen, patch: { head: i } };
    const name = text(`small${i}/name`, `${i} ${habits[i]}`, chosen ? "bold small" : "muted small");
    const frame = chosen ? "/primary 3" : "/line";
    const map = heatmap(`small${i}`, each, 3.8);
    return column({ gap: 0 }, name, framed(`small${i}/frame`, map, frame, { press }));
  });
  const tip = (weight, i, j) => `“${names[i]}” gives “${names[j]}” ${fixed(weight, 3)}`;
  const title = `layer ${depth}, head ${head}: ${habits[head]}, ${fixed(scores[head])}`;
  const rows = [0, 3, 6, 9].map((from) => small.slice(from, from + 3));
  return row({ gap: 1 }, grid(0.4, rows), named(names, weights[head], title, tip));
}

const clamp = (value, most) => Math.min(most, Math.max(0, value));

/** A cell of a map, opened: the products of its query and key, and one of them. */
export function opened({ trained: read, cell }, { inputs }) {
  const { tokens: names, weights, head, layer: depth } = read;
  const { query, key, q, k, products, sum, score, weight } = cell;
  const [last, end] = [names.length - 1, products.length - 1];
  const at = clamp(Number(inputs.element), end);
  const map = named(names, weights[head], `layer ${depth}, head ${head}`);
  const most = Math.max(0.01, ...products.map(Math.abs));
  const look = { x: [0, end + 1], y: [-most, most], ticks: { x: [], y: [] }, wide: 13, high: 8 };
  const plotted = plot("cell/plot", look, ({ x, y }) => {
    const bar = (each, i) => {
      const place = [x(i), y(Math.max(0, each)), x(0.8) - x(0), Math.abs(y(0) - y(each))];
      return rect(`cell/bar${i}`, place, i === at ? "primary" : "muted");
    };
    const handle = {
      ...{ label: "The product that is read", now: at, taps: true },
      value: `element ${at}: ${fixed(q[at])} times ${fixed(k[at])} is ${fixed(products[at])}`,
      move: (across) => ({ element: clamp(Math.floor((across - x(0)) / (x(1) - x(0))), end) }),
      nudge: (across, down) => ({ element: clamp(at + across - down, end) }),
    };
    const [top, high] = [y(most), y(-most) - y(most)];
    return [
      ...products.map(bar),
      rect("cell/at", [x(at) - 0.05, top, x(1) - x(0), high], "/primary 1.5"),
      rect("cell/pick", [x(0), top, x(end + 1) - x(0), high], "none", { handle }),
    ];
  });
  const range = `${products.length} products, ${fixed(Math.min(...products), 1)} to ${fixed(Math.max(...products), 1)}`;
  const product = `${bracketed(fixed(q[at]))} · ${bracketed(fixed(k[at]))} = ${fixed(products[at])}`;
  const total = `sum of all ${products.length}: ${fixed(sum)}`;
  const scaled = `÷ √${products.length}: score ${fixed(score)}`;
  const sums = column(
    { align: "start", gap: 0.5 },
    lines("cell/query", [`query of “${cell.asks}”`], "query bold"),
    lines("cell/key", [`key of “${cell.asked}”`], "key bold"),
    text("cell/bars", range, "muted"),
    plotted,
    text("cell/element", `element ${at}: one multiplication`, "muted"),
    text("cell/product", product, "bold large primary"),
    lines("cell/sum", [total, scaled, "softmax over the row: weight"]),
    text("cell/share", fixed(weight, 4), "weight bold large"),
  );
  return overlaid(row({ gap: 1.6 }, map, sums), (place) => {
    const { x, y, w } = place("big/0.0");
    const [chosen, side] = [place(`big/${query}.${key}`), w * names.length];
    const to = (across, down) => ({ query: clamp(down, last), key: clamp(across, last) });
    const handle = {
      ...{ label: "The cell that is opened", taps: true },
      value: `“${cell.asks}” gives “${cell.asked}” ${fixed(weight, 3)}`,
      move: (across, down) => to(Math.floor((across - x) / w), Math.floor((down - y) / w)),
      nudge: (across, down) => to(key + across, query + down),
    };
    const { x: right, y: top } = place("cell/query0");
    const [near, low] = [right - 0.5, place("cell/share").y + 1];
    return [
      line("lens/upper", [chosen.x + w, chosen.y, near, top], "/primary 1.2 dashed"),
      line("lens/lower", [chosen.x + w, chosen.y + w, near, low], "/primary 1.2 dashed"),
      rect("lens/cell", [chosen.x, chosen.y, w, w], "/primary 2.5"),
      rect("lens/map", [x, y, side, side], "none", { handle }),
    ];
  });
}
