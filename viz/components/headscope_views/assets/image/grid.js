// The picture with its numbered patches and one head's weights over it. Point at a patch, or walk
// over them with the arrow keys: all other views follow.

import { button } from "./bar.js";
import { savePicture } from "./imagesave.js";
import { legendOf, massBarOf } from "./imagescale.js";
import { stackOf } from "./imagestack.js";
import { describe, nameOf, theToken } from "./imagewords.js";
import { capital, element, say } from "./view.js";

const LARGEST = 560; // CSS pixels of the longer side
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
const DOUBT =
  "A large weight says where information may come from, not that the network saw what is there.";

export function pictureOf(store, parent) {
  const says = element("p", "hs-says");
  const prefix = element("div", "hs-prefix", {
    role: "group",
    "aria-label": "Tokens without a place",
  });
  const stack = stackOf(store);
  const { photo } = stack;
  const wait = element("div", "hs-wait");
  const stage = element("div", "hs-stage", {}, photo, wait);
  const legend = legendOf(store);
  const mass = massBarOf(store);
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const bare = button("Picture only", "Show the picture without weights", () => {
    plain = !plain;
    store.changed();
  });
  bare.removeAttribute("aria-label");
  const keep = button("Save PNG", "Save the picture with its weights", () =>
    savePicture(store, stack.flatten(), says.textContent, section),
  );
  const heading = element("h3", "hs-heading", {}, "One head over the picture");
  const row = element("div", "hs-row", {}, heading, element("span", "hs-spring"), bare, keep);
  const doubt = element("p", "hs-doubt", {}, DOUBT);
  const below = [legend.canvas, ...mass.parts, read, doubt];
  const section = element("section", "hs-section", {}, row, says, prefix, stage, ...below);
  parent.append(section);
  let chips = [];
  let room = null; // what the page gives: {wide, unit, family}
  let size = null; // of the picture: {wide, tall, unit, family}
  let told = "";
  let count = 0;
  let plain = false;

  const root = () => section.closest(".headscope");

  // ---- pointing and walking

  function tokenAt(event) {
    if (!size) return null;
    const box = photo.getBoundingClientRect();
    const [rows, cols] = store.base.grid;
    const col = Math.floor(((event.clientX - box.left) / size.wide) * cols);
    const row = Math.floor(((event.clientY - box.top) / size.tall) * rows);
    if (row < 0 || col < 0 || row >= rows || col >= cols) return null;
    return store.base.prefix + row * cols + col;
  }

  photo.onpointermove = (event) => {
    if (event.pointerType === "mouse") store.pointAt(tokenAt(event));
  };
  photo.onpointerleave = () => store.pointAt(null);
  photo.onclick = (event) => {
    const token = tokenAt(event);
    if (token !== null) store.select({ token });
  };
  photo.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = step(event.key);
    if (next === undefined) return;
    event.preventDefault();
    store.pointAt(null);
    store.select({ token: next });
  };

  function step(key) {
    const { prefix: first, grid } = store.base;
    const last = store.site().queries - 1;
    const token = store.selection.token ?? 0;
    if (key === "Home") return 0;
    if (key === "End") return last;
    if (!MOVES[key]) return undefined;
    const [down, right] = MOVES[key];
    if (token < first) {
      const next = down > 0 ? first : token + right;
      return Math.min(Math.max(0, next), first);
    }
    const [row, col] = store.place(token);
    if (down < 0 && row === 0 && first) return first - 1;
    const to = [
      Math.min(Math.max(0, row + down), grid[0] - 1),
      Math.min(Math.max(0, col + right), grid[1] - 1),
    ];
    return first + to[0] * grid[1] + to[1];
  }

  function buildPrefix() {
    const { prefix: many, query_labels: labels } = store.base;
    const names = labels.slice(0, many);
    if (chips.map((chip) => chip.textContent).join() === names.join()) return;
    chips = names.map((label, token) => {
      const chip = element("button", "hs-chip", { type: "button" }, label);
      chip.onclick = () => store.select({ token });
      chip.onpointerenter = (event) => {
        if (event.pointerType === "mouse") store.pointAt(token);
      };
      chip.onpointerleave = () => store.pointAt(null);
      chip.onkeydown = photo.onkeydown;
      return chip;
    });
    prefix.replaceChildren(...chips);
    prefix.hidden = !many;
  }

  // ---- drawing

  function measure() {
    const { fontSize, fontFamily: family } = getComputedStyle(section);
    room = { wide: stage.clientWidth, unit: parseFloat(fontSize) / 16, family };
  }

  function fitted() {
    const { width, height } = store.bitmap;
    const tallest = Math.max(280, Math.min(LARGEST, innerHeight - 260));
    const zoom = Math.min(Math.min(room.wide, LARGEST) / width, tallest / height);
    return { ...room, wide: Math.round(width * zoom), tall: Math.round(height * zoom) };
  }

  function render(theme) {
    if (room.wide && store.complete) {
      size = fitted();
      const { site, head, direction, scale } = store.selection;
      const key = [store.rows().key, site, head, direction, scale, theme.mode].join();
      const redrawn = stack.render(size, plain);
      if (redrawn || key !== told) {
        legend.render(size, theme);
        mass.render(theme);
        count += 1;
        Object.assign(root().dataset, { painted: count, token: store.token() });
      }
      if (key !== told) tell();
      told = key;
    }
    status();
  }

  // ---- words

  function tell() {
    const { direction, head } = store.selection;
    const name = theToken(store, store.token());
    const which = capital(`${store.siteName()}, ${store.headName(head)}`);
    const verb = direction === "in" ? `who looks at ${name}` : `where ${name} looks`;
    say(says, `${which}: ${verb}. Brighter = more weight.`);
    sayMost();
    buildPrefix();
    const { grid, model, note } = store.base;
    describe(
      photo,
      "aria-label",
      `Picture of ${grid[0]} × ${grid[1]} patches with the weights of ${store.siteName()}, ` +
        `${store.headName()}, ${model}${note ? ` (${note})` : ""}. ` +
        "Arrow keys choose a patch; Home the first token.",
    );
  }

  function sayMost() {
    const rows = store.rows();
    const values = rows.heads[store.shown];
    let best = store.base.prefix;
    for (let i = best; i < values.length; i++) if (values[i] > values[best]) best = i;
    const sign = rows.exact ? "" : "≈ ";
    const largest = rows.factor > 1 ? "a patch" : nameOf(store, best);
    const verb = store.axis === "query" ? "most to" : "most from";
    const name = capital(nameOf(store, store.token()));
    say(read, `${name}: ${verb} ${largest}, ${sign}${values[best].toFixed(5)}`);
  }

  function mark() {
    chips.forEach((chip, i) => {
      chip.classList.toggle("hs-asked", i === store.token());
      describe(chip, "aria-pressed", String(i === (store.selection.token ?? 0)));
    });
  }

  function status() {
    const missing = !store.complete;
    stage.classList.toggle("hs-dim", missing);
    wait.hidden = !missing || Boolean(count && store.rows());
    if (missing) say(wait, store.onEvent ? `Fetching ${store.siteName()} …` : "Not in this file");
    describe(bare, "aria-pressed", String(plain));
    mark();
  }

  return { measure, render };
}
