// Every head of the chosen layer at once: where the token in question looks, or who looks at it.

import { planOf, tilesOf } from "./imagetiles.js";
import { describe, nameOf, theToken } from "./imagewords.js";
import { element, say } from "./view.js";

const MOVES = { ArrowLeft: -1, ArrowRight: 1 };
const PARTS = "class, registers, patches";

export function headsOf(store, parent) {
  const says = element("p", "hs-says");
  const { tiles, render: draw } = tilesOf(store);
  const stage = element("div", "hs-stage", {}, tiles);
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const heading = element("h3", "hs-heading", {}, "Every head of this layer");
  const section = element("section", "hs-section", {}, heading, says, stage, read);
  parent.append(section);
  let room = null; // {wide, unit, family}
  let plan = null;

  function at(event) {
    if (!plan) return null;
    const box = tiles.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const [col, row] = [Math.floor(x / plan.stepX), Math.floor(y / plan.stepY)];
    const index = row * plan.across + col;
    if (col < 0 || row < 0 || col >= plan.across || index >= plan.count) return null;
    const [inX, inY] = [x - plan.places[index][0], y - plan.places[index][1] - plan.label];
    const inside = inX < plan.wide && inY >= 0 && inY < plan.tall;
    if (!inside) return { index, token: null };
    const [rows, cols] = store.base.grid;
    const patch = Math.floor((inY / plan.tall) * rows) * cols + Math.floor((inX / plan.wide) * cols);
    return { index, token: store.base.prefix + patch };
  }

  tiles.onpointermove = (event) => {
    const spot = at(event);
    tiles.style.cursor = spot ? "pointer" : "";
    store.readAt(spot && spot.token !== null ? { head: spot.index, token: spot.token } : null);
  };
  tiles.onpointerleave = () => store.readAt(null);
  tiles.onclick = (event) => {
    const spot = at(event);
    if (spot) store.select({ head: store.heads()[spot.index] });
  };
  tiles.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !plan) return;
    const names = store.heads();
    const now = names.indexOf(store.selection.head);
    const steps = { ...MOVES, ArrowUp: -plan.across, ArrowDown: plan.across };
    const next = { Home: 0, End: names.length - 1 }[event.key] ?? now + steps[event.key];
    if (Number.isNaN(next)) return;
    event.preventDefault();
    if (next >= 0 && next < names.length) store.select({ head: names[next] });
  };

  function measure() {
    const { fontSize, fontFamily: family } = getComputedStyle(section);
    room = { wide: stage.clientWidth, unit: parseFloat(fontSize) / 16, family };
  }

  function words() {
    const inward = store.selection.direction === "in";
    const name = theToken(store, store.token());
    const lead = inward ? `Who looks at ${name}` : `Where ${name} looks`;
    const much = inward ? "comes from" : "goes to";
    say(says, `${lead}, in each head. Bars: how much ${much} ${PARTS}.`);
    const rows = store.rows();
    const spot = store.read;
    read.classList.toggle("hs-muted", !spot);
    if (!rows || !spot)
      say(read, "Point at a patch here to read its weight; click a head to see it large.");
    else say(read, reading(rows, spot, inward));
    describe(
      tiles,
      "aria-label",
      `${store.site().heads} heads of ${store.siteName()} as small pictures, then their mean and ` +
        `maximum${store.base.note ? `; ${store.base.note}` : ""}. Chosen: ${store.headName()}. ` +
        "Arrow keys choose another one.",
    );
  }

  function reading(rows, spot, inward) {
    const value = rows.heads[spot.head][store.cellOf(spot.token, rows.factor)];
    const sign = rows.exact ? "" : rows.factor > 1 ? "≲ " : "≈ ";
    const pair = [store.token(), spot.token].map((token) => nameOf(store, token));
    if (inward) pair.reverse();
    const head = store.heads()[spot.head];
    const who = typeof head === "number" ? `Head ${head}` : `${head} of heads`;
    return `${who}: ${pair[0]} → ${pair[1]}: ${sign}${value.toFixed(rows.exact ? 5 : 4)}`;
  }

  function render(theme) {
    stage.classList.toggle("hs-dim", !store.complete);
    if (store.complete && room.wide) {
      const count = store.heads().length;
      plan = planOf(room.wide, store.bitmap, count, store.base.grid, room.unit);
      draw(plan, theme, room.family);
    }
    words();
  }

  return { measure, render };
}
