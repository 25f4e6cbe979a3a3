// Every head of the chosen layer at once: where the token in question looks, or who looks at it.

import { nameOf, theToken } from "./imagegrid.js";
import { fit, grounds, remark, spread, veil } from "./overlay.js";
import { element, say } from "./view.js";

const GAP = 10;
const SMALLEST = 92;
const BEST = 148;
const MOVES = { ArrowLeft: -1, ArrowRight: 1 };

export function heads(store, parent) {
  const says = element("p", "hs-says");
  const canvas = element("canvas", "hs-picture hs-tiles", { role: "img", tabindex: "0" });
  const stage = element("div", "hs-stage", {}, canvas);
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const section = element(
    "section",
    "hs-section",
    {},
    element("h3", "hs-heading", {}, "Every head of this layer"),
    says,
    stage,
    read,
  );
  parent.append(section);
  const small = document.createElement("canvas");
  let plan = null; // {across, wide, tall, head, unit}: of a tile
  let ground = null;
  let painted = "";

  function measure() {
    const { fontSize, fontFamily: family } = getComputedStyle(section);
    const unit = parseFloat(fontSize) / 16;
    const room = stage.clientWidth;
    const count = store.heads().length;
    const fewest = Math.min(3, count);
    let across = Math.max(fewest, Math.floor((room + GAP) / (BEST * unit + GAP)));
    across = Math.min(across, count, Math.max(1, Math.floor((room + GAP) / (SMALLEST + GAP))));
    const wide = Math.floor(Math.min((room + GAP) / across - GAP, 1.3 * BEST * unit));
    const { width, height } = store.bitmap;
    const tall = Math.round((wide * height) / width);
    const label = 20 * unit;
    return { across, wide, tall, label, unit, family, step: tall + label + 18 * unit };
  }

  function at(event) {
    if (!plan) return null;
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const [col, row] = [Math.floor(x / (plan.wide + GAP)), Math.floor(y / plan.step)];
    const index = row * plan.across + col;
    if (col >= plan.across || index >= store.heads().length) return null;
    const [inX, inY] = [x - col * (plan.wide + GAP), y - row * plan.step - plan.label];
    const inside = inX < plan.wide && inY >= 0 && inY < plan.tall;
    if (!inside) return { index, token: null };
    const [rows, cols] = store.base.grid;
    const patch = Math.floor((inY / plan.tall) * rows) * cols + Math.floor((inX / plan.wide) * cols);
    return { index, token: store.base.prefix + patch };
  }

  canvas.onpointermove = (event) => {
    const spot = at(event);
    canvas.style.cursor = spot ? "pointer" : "";
    store.readAt(spot && spot.token !== null ? { head: spot.index, token: spot.token } : null);
  };
  canvas.onpointerleave = () => store.readAt(null);
  canvas.onclick = (event) => {
    const spot = at(event);
    if (spot) store.select({ head: store.heads()[spot.index] });
  };
  canvas.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !plan) return;
    const names = store.heads();
    const now = names.indexOf(store.selection.head);
    const steps = { ...MOVES, ArrowUp: -plan.across, ArrowDown: plan.across };
    const next = { Home: 0, End: names.length - 1 }[event.key] ?? now + steps[event.key];
    if (Number.isNaN(next)) return;
    event.preventDefault();
    if (next >= 0 && next < names.length) store.select({ head: names[next] });
  };

  function paint(theme) {
    const rows = store.rows();
    const names = store.heads();
    const tall = Math.ceil(names.length / plan.across) * plan.step + (store.base.note ? 22 : 0);
    const context = fit(canvas, plan.across * (plan.wide + GAP) - GAP, tall);
    context.fillStyle = theme.background;
    context.fillRect(0, 0, canvas.width, canvas.height);
    names.forEach((name, i) => {
      const x = (i % plan.across) * (plan.wide + GAP);
      const y = Math.floor(i / plan.across) * plan.step;
      tile(context, theme, rows, { name, i, x, y });
    });
    const font = `600 ${11 * plan.unit}px ${plan.family}`;
    remark(context, store.base.note, plan.across * (plan.wide + GAP) - GAP, tall, font);
  }

  function tile(context, theme, rows, { name, i, x, y }) {
    const { wide, tall, label, unit } = plan;
    const values = rows.heads[i];
    const chosen = name === store.selection.head;
    const top = y + label;
    context.font = `${chosen ? 700 : 400} ${12.5 * unit}px ${plan.family}`;
    context.textBaseline = "alphabetic";
    context.fillStyle = chosen ? theme.primary : theme.text;
    context.fillText(typeof name === "number" ? `head ${name}` : `${name} of heads`, x, top - 6 * unit);
    context.drawImage(ground.dim, x, top, wide, tall);
    const cells = store.cells(rows.factor);
    veil(small, values, store.base.prefix, cells, store.topOf(values), store.ramps.dark);
    spread(context, small, x, top, wide, tall, store.base.grid, rows.factor);
    dot(context, store.token(), x, top, "#fff");
    if (store.read) dot(context, store.read.token, x, top, "#ffd54a");
    massBar(context, theme, store.mass(values, rows.factor), x, top + tall + 3 * unit);
    if (!chosen) return;
    context.strokeStyle = theme.primary;
    context.lineWidth = 3;
    context.strokeRect(x + 1.5, top + 1.5, wide - 3, tall - 3);
  }

  function massBar(context, theme, mass, x, y) {
    const colours = [theme.heads[3], theme.heads[2], theme.heads[15]];
    let from = x;
    [mass.first, mass.registers, mass.patches].forEach((value, i) => {
      const wide = (plan.wide * value) / (mass.whole || 1);
      context.fillStyle = colours[i];
      context.fillRect(from, y, wide, 5 * plan.unit);
      from += wide;
    });
  }

  function dot(context, token, x, y, colour) {
    if (token < store.base.prefix) return;
    const [row, col] = store.place(token);
    const [rows, cols] = store.base.grid;
    const [down, across] = [plan.tall / rows, plan.wide / cols];
    const grow = Math.max(0, 7 - across) / 2;
    const box = [x + col * across - grow, y + row * down - grow, across + 2 * grow, down + 2 * grow];
    context.strokeStyle = "#000";
    context.lineWidth = 3;
    context.strokeRect(...box);
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.strokeRect(...box);
  }

  function words() {
    const { direction } = store.selection;
    const name = theToken(store, store.token());
    say(
      says,
      direction === "in"
        ? `Who looks at ${name}, in each head. The bar below each: how much comes from class, registers, patches.`
        : `Where ${name} looks, in each head. The bar below each: how much goes to class, registers, patches.`,
    );
    const rows = store.rows();
    const spot = store.read;
    read.classList.toggle("hs-muted", !spot);
    if (!rows || !spot) {
      say(read, "Point at a patch here to read its weight; click a head to see it large.");
      return;
    }
    const value = rows.heads[spot.head][store.cellOf(spot.token, rows.factor)];
    const sign = rows.exact ? "" : rows.factor > 1 ? "≲ " : "≈ ";
    const pair = [store.token(), spot.token].map((token) => nameOf(store, token));
    if (direction === "in") pair.reverse();
    const head = store.heads()[spot.head];
    const who = typeof head === "number" ? `Head ${head}` : `${head} of heads`;
    say(read, `${who}: ${pair[0]} → ${pair[1]}: ${sign}${value.toFixed(rows.exact ? 5 : 4)}`);
  }

  function describe() {
    canvas.setAttribute(
      "aria-label",
      `${store.site().heads} heads of ${store.siteName()} as small pictures, then their mean and ` +
        `maximum${store.base.note ? `; ${store.base.note}` : ""}. Chosen: ${store.headName()}. ` +
        "Arrow keys choose another one.",
    );
  }

  function render(theme) {
    const here = store.bitmap && store.drawn === store.trace && store.rows();
    stage.classList.toggle("hs-dim", !here);
    if (here && stage.clientWidth) {
      plan = measure();
      const ratio = devicePixelRatio || 1;
      const size = [store.drawn, plan.wide, plan.tall, ratio].join();
      if (ground?.key !== size)
        ground = {
          key: size,
          ...grounds(store.bitmap, Math.round(plan.wide * ratio), Math.round(plan.tall * ratio)),
        };
      const { site, head, direction, scale } = store.selection;
      const key = [
        ...[size, site, head, direction, scale, store.token(), store.version, store.pictures],
        ...[plan.across, plan.unit, theme.mode, store.read?.token],
      ].join();
      if (key !== painted) {
        painted = key;
        paint(theme);
        describe();
      }
    }
    words();
  }

  return { render };
}
