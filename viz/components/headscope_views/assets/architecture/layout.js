// Where everything of a network's diagram stands: parts in, boxes, frames and lines out.
// The flow goes down; a residual goes round on the right, another tower's output comes from the
// left.

export const BOX = 34;
export const TALL = 58; // the box of the heads
const GAP = 34; // room for an arrow and its shape
const SHORT = 20; // an arrow without a shape
const HEAD = 28; // a frame's title
const PAD = 10;
const LANE = 18; // beside boxes, for a residual
const BETWEEN = 8;
const ROOMY = 112;
const TOWERS = 44; // between two towers, for what crosses over
const SIDE_BY_SIDE = 620;
const WIDEST = 460;

/**
 * Boxes {part, id, x, y, width, height, level, open}, frames (the same, round others), and lines
 * {points, kind, shape?, at?} for a width. Parts are open unless their path is among the closed.
 */
export function layout(parts, width, closed) {
  const made = { boxes: [], frames: [], lines: [], titles: [], width, height: 0 };
  if (parts[0].kind === "tower") towers(made, parts, width, closed);
  else {
    const wide = Math.min(width, WIDEST);
    const end = flow(made, parts, (width - wide) / 2, 2, wide, { closed, level: 1, path: "" });
    out(made, end, parts.at(-1));
    made.height = end.y + GAP + 4;
  }
  return made;
}

function towers(made, [encoder, decoder], width, closed) {
  const beside = width >= SIDE_BY_SIDE;
  const margin = beside ? 0 : 16;
  const wide = beside ? Math.min((width - TOWERS) / 2, WIDEST) : Math.min(width - margin, WIDEST);
  const left = beside ? (width - TOWERS - 2 * wide) / 2 : margin;
  const first = tower(made, encoder, left, 0, wide, closed);
  const gate = beside ? left + wide + TOWERS / 2 : margin - 9;
  const start = { x: first.x, y: first.y + GAP };
  const x = beside ? left + wide + TOWERS : left;
  const y = beside ? 0 : start.y + 26;
  const context = { gate, start };
  const second = tower(made, decoder, x, y, wide, closed, context);
  made.height = Math.max(start.y + 14, second.y + GAP) + 4;
}

function tower(made, part, x, y, width, closed, context) {
  made.titles.push({ text: part.title, x: x + width / 2, y: y + 16 });
  const place = { closed, level: 1, path: `${part.name}/`, context };
  const end = flow(made, part.parts, x, y + 26, width, place);
  out(made, end, part.parts.at(-1), !context);
  return end;
}

/** Parts below each other; returns the middle of the last one's lower edge. */
function flow(made, parts, x, y, width, place) {
  const middle = x + width / 2;
  const residual = parts.some((part) => part.skips);
  const inset = residual ? LANE : 0;
  const junctions = {};
  let before = null;
  for (const part of rows(parts)) {
    const beside = Array.isArray(part);
    if (before || place.inside) {
      const shown = before && !beside && !before.beside;
      const gap = before ? GAP : SHORT;
      const names = beside ? part : [part];
      for (const each of names) junctions[each.name] = { x: middle, y: y + 5 };
      if (beside) fork(made, part, x + inset, y, width - 2 * inset, place);
      else if (before?.beside) join(made, before, y, gap);
      else line(made, [[middle, y], [middle, y + gap]], "flow", shown ? before : null, width / 2 - inset - 10);
      y += beside ? FORK : gap;
    }
    if (beside) {
      const each = columns(x + inset, width - 2 * inset, part.length);
      for (const [i, one] of part.entries()) {
        box(made, one, each[i], y, each.width, BOX, place);
        made.boxes.at(-1).bare = each.width < ROOMY; // all of them with a number, or none
      }
      before = { beside: true, parts: part, columns: each };
      y += BOX;
      continue;
    }
    const opened = part.parts.length > 0 && !place.closed.has(place.path + part.name);
    const top = y;
    if (opened) y = frame(made, part, x + inset, y, width - 2 * inset, place);
    else {
      const high = part.kind === "attend" ? TALL : BOX;
      box(made, part, x + inset, y, width - 2 * inset, high, place);
      if (part.context.length && place.context) cross(made, [x + inset, y + high / 2], place);
      y += high;
    }
    if (part.skips && junctions[part.skips]) {
      const from = junctions[part.skips];
      const lane = x + width - LANE / 2 + 1;
      const into = top + BOX / 2;
      const corner = [[from.x, from.y], [lane, from.y], [lane, into], [x + width - inset, into]];
      made.lines.push({ points: corner, kind: "residual" });
    }
    before = part;
  }
  return { x: middle, y };
}

const FORK = 30;

/** What projections side by side are given: x to all, or x to one and the context to the others. */
function fork(made, parts, x, y, width, place) {
  const each = columns(x, width, parts.length);
  const middle = x + width / 2;
  const centre = (i) => each[i] + each.width / 2;
  const crosses = Boolean(place.crossing);
  const own = parts.map((part, i) => [part, i]).filter(([part]) => !crosses || part.name === "query");
  for (const [, i] of own) {
    const points = [[middle, y], [middle, y + 8], [centre(i), y + 8], [centre(i), y + FORK]];
    made.lines.push({ points, kind: "flow" });
  }
  if (!crosses) return;
  parts.forEach((part, i) => {
    if (part.name === "query") return;
    const points = [[x - PAD, y + 17], [centre(i), y + 17], [centre(i), y + FORK]];
    made.lines.push({ points, kind: "cross" });
  });
  cross(made, [x - PAD, y + 17], place, false);
}

/** From boxes side by side straight down into the one below. */
function join(made, { parts, columns: each }, y, gap) {
  parts.forEach((part, i) => {
    const centre = each[i] + each.width / 2;
    line(made, [[centre, y], [centre, y + gap]], "flow", part, each.width / 2 - 4);
  });
}

/** From the end of the other tower to a point of this one. */
function cross(made, [x, y], { context }, arrow = true) {
  const { gate, start } = context;
  const points = [[start.x, start.y], [gate, start.y], [gate, y], [x, y]];
  made.lines.push({ points, kind: "cross", bare: !arrow });
}

function frame(made, part, x, y, width, place) {
  const id = place.path + part.name;
  const framed = { part, id, x, y, width, height: 0, level: place.level, open: true };
  made.frames.push(framed);
  const crossing = part.context.length > 0 && place.context;
  const inner = { ...place, path: `${id}/`, level: place.level + 1, inside: true, crossing };
  const end = flow(made, ordered(part.parts, crossing), x + PAD, y + HEAD, width - 2 * PAD, inner);
  framed.height = end.y + PAD - y;
  return y + framed.height;
}

/** Projections of the context stand on the side it comes from. */
function ordered(parts, crossing) {
  if (!crossing) return parts;
  const query = parts.find((part) => part.name === "query");
  const others = parts.filter((part) => part.kind === "projection" && part !== query);
  return [...others, query, ...parts.filter((part) => part.kind !== "projection")];
}

/** Projections that follow each other stand side by side. */
function rows(parts) {
  const found = [];
  for (const part of parts) {
    const last = found.at(-1);
    if (part.kind !== "projection") found.push(part);
    else if (Array.isArray(last)) last.push(part);
    else found.push([part]);
  }
  return found;
}

function columns(x, width, count) {
  const each = (width - (count - 1) * BETWEEN) / count;
  return Object.assign(
    Array.from({ length: count }, (_, i) => x + i * (each + BETWEEN)),
    { width: each },
  );
}

function box(made, part, x, y, width, height, place) {
  const id = place.path + part.name;
  const { level } = place;
  made.boxes.push({ part, id, x, y, width, height, level, open: false, bare: false });
}

function line(made, points, kind, part, room = 170) {
  const shape = part ? { axes: part.gives, room } : null;
  const [x, y] = points[0];
  made.lines.push({ points, kind, shape, at: [x + 8, y + 21] });
}

/** The last arrow, and what comes out. */
function out(made, { x, y }, part, crosses = false) {
  line(made, [[x, y], [x, y + GAP]], crosses ? "cross" : "flow", part);
  if (crosses) made.lines.at(-1).bare = true;
}
