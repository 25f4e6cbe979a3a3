// The picture with its numbered patches and one head's weights over it. Point at a patch, or walk
// over them with the arrow keys: all other views follow.

import { button } from "./bar.js";
import { fit, grounds, remark, sheet, spread, tidy, veil } from "./overlay.js";
import { capital, element, say } from "./view.js";

const LARGEST = 560; // CSS pixels of the longer side
const NUMBERED = 21; // CSS pixels a patch must have for its number to stand in it
const LINED = 5; // and for lines between patches
const WIDE = 14; // and for bright ones
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** "patch 23 (row 1, column 9)" or "class". */
export function nameOf(store, token) {
  const { prefix, query_labels: labels } = store.base;
  if (token < prefix) return labels[token] === "class" ? "class token" : labels[token];
  const [row, col] = store.place(token);
  return `patch ${token - prefix} (row ${row}, column ${col})`;
}

/** The same in the middle of a sentence. */
export function theToken(store, token) {
  return `${token < store.base.prefix ? "the " : ""}${nameOf(store, token)}`;
}

export function canvasOfPicture(store, parent) {
  const says = element("p", "hs-says");
  const prefix = element("div", "hs-prefix", { role: "group", "aria-label": "Tokens without a place" });
  const canvas = element("canvas", "hs-picture hs-photo", { role: "img", tabindex: "0" });
  const wait = element("div", "hs-wait");
  const stage = element("div", "hs-stage", {}, canvas, wait);
  const scale = element("canvas", "hs-scale", { "aria-hidden": "true" });
  const bar = element("div", "hs-mass", { "aria-hidden": "true" });
  const parts = element("p", "hs-parts");
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const doubt = element(
    "p",
    "hs-doubt",
    {},
    "A large weight says where information may come from, not that the network saw what is there.",
  );
  const bare = button("Picture only", "Show the picture without weights", () => {
    plain = !plain;
    store.changed();
  });
  bare.removeAttribute("aria-label");
  const keep = button("Save PNG", "Save the picture with its weights", () => save());
  const section = element(
    "section",
    "hs-section",
    {},
    element(
      "div",
      "hs-row",
      {},
      element("h3", "hs-heading", {}, "One head over the picture"),
      ...[element("span", "hs-spring"), bare, keep],
    ),
    ...[says, prefix, stage, scale, bar, parts, read, doubt],
  );
  parent.append(section);
  const small = document.createElement("canvas");
  let chips = [];
  let base = null; // {key, plain, dim, lines}
  let size = null; // {wide, tall}
  let painted = "";
  let count = 0;
  let plain = false;

  const root = () => section.closest(".headscope");
  const shown = () => store.heads().indexOf(store.selection.head);

  // ---- pointing and walking

  function tokenAt(event) {
    if (!size) return null;
    const box = canvas.getBoundingClientRect();
    const [rows, cols] = store.base.grid;
    const col = Math.floor(((event.clientX - box.left) / size.wide) * cols);
    const row = Math.floor(((event.clientY - box.top) / size.tall) * rows);
    if (row < 0 || col < 0 || row >= rows || col >= cols) return null;
    return store.base.prefix + row * cols + col;
  }

  canvas.onpointermove = (event) => {
    if (event.pointerType === "mouse") store.pointAt(tokenAt(event));
  };
  canvas.onpointerleave = () => store.pointAt(null);
  canvas.onclick = (event) => {
    const token = tokenAt(event);
    if (token !== null) store.select({ token });
  };
  canvas.onkeydown = (event) => {
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
    if (chips.map((chip) => chip.textContent).join() === labels.slice(0, many).join()) return;
    chips = labels.slice(0, many).map((label, token) => {
      const chip = element("button", "hs-chip", { type: "button" }, label);
      chip.onclick = () => store.select({ token });
      chip.onpointerenter = (event) => {
        if (event.pointerType === "mouse") store.pointAt(token);
      };
      chip.onpointerleave = () => store.pointAt(null);
      chip.onkeydown = canvas.onkeydown;
      return chip;
    });
    prefix.replaceChildren(...chips);
    prefix.hidden = !many;
  }

  // ---- painting

  function measure() {
    const { width, height } = store.bitmap;
    const room = Math.min(stage.clientWidth, LARGEST);
    const tallest = Math.max(280, Math.min(LARGEST, innerHeight - 260));
    const zoom = Math.min(room / width, tallest / height);
    size = { wide: Math.round(width * zoom), tall: Math.round(height * zoom) };
  }

  /** Picture and lines at this size, drawn once. */
  function prepare() {
    const ratio = devicePixelRatio || 1;
    const key = [store.drawn, size.wide, size.tall, ratio, store.base.grid].join();
    if (base?.key === key) return;
    const [width, height] = [Math.round(size.wide * ratio), Math.round(size.tall * ratio)];
    base = { key, ...grounds(store.bitmap, width, height), lines: sheet(width, height) };
    rule(base.lines.getContext("2d"), width, height, ratio);
  }

  function rule(context, width, height, ratio) {
    const [rows, cols] = store.base.grid;
    const [down, across] = [height / rows, width / cols];
    if (across < LINED * ratio) return;
    const [dark, light] = across < WIDE * ratio ? [0.2, 0] : [0.35, 0.4]; // few lines, much picture
    for (const [colour, shift] of [[`rgba(0,0,0,${dark})`, 1], [`rgba(255,255,255,${light})`, 0]]) {
      context.fillStyle = colour;
      for (let i = 1; i < cols; i++) context.fillRect(Math.round(i * across) + shift, 0, 1, height);
      for (let i = 1; i < rows; i++) context.fillRect(0, Math.round(i * down) + shift, width, 1);
    }
    if (Math.min(down, across) < NUMBERED * ratio) return;
    const letters = Math.min(12, (Math.min(down, across) / ratio) * 0.36) * ratio;
    context.font = `500 ${letters}px ${getComputedStyle(section).fontFamily}`;
    context.textBaseline = "top";
    context.lineWidth = 2.5 * ratio;
    context.lineJoin = "round";
    context.strokeStyle = "rgba(0,0,0,.5)";
    context.fillStyle = "rgba(255,255,255,.9)";
    for (let i = 0; i < rows * cols; i++) {
      const [x, y] = [(i % cols) * across + 3 * ratio, Math.floor(i / cols) * down + 3 * ratio];
      context.strokeText(String(i), x, y);
      context.fillText(String(i), x, y);
    }
  }

  function paint(theme) {
    const context = fit(canvas, size.wide, size.tall);
    const { wide, tall } = size;
    const rows = store.rows();
    context.drawImage(plain ? base.plain : base.dim, 0, 0, wide, tall);
    if (!plain) {
      const values = rows.heads[shown()];
      const cells = store.cells(rows.factor);
      veil(small, values, store.base.prefix, cells, store.topOf(values), store.ramps.dark);
      spread(context, small, 0, 0, wide, tall, store.base.grid, rows.factor);
    }
    context.drawImage(base.lines, 0, 0, wide, tall);
    frame(context, store.token(), "#fff", 2.5);
    if (store.read) frame(context, store.read.token, "#ffd54a", 2);
    const { fontFamily } = getComputedStyle(section);
    if (!plain) remark(context, store.base.note, wide, tall, `600 12px ${fontFamily}`);
  }

  function frame(context, token, colour, thick) {
    if (token < store.base.prefix) return;
    const [row, col] = store.place(token);
    const [rows, cols] = store.base.grid;
    const [down, across] = [size.tall / rows, size.wide / cols];
    const grow = Math.max(0, 9 - across) / 2; // a tiny patch gets a frame round it
    const box = [col * across - grow, row * down - grow, across + 2 * grow, down + 2 * grow];
    context.lineWidth = thick + 2.5;
    context.strokeStyle = "#000";
    context.strokeRect(...box);
    context.lineWidth = thick;
    context.strokeStyle = colour;
    context.strokeRect(...box);
  }

  function paintScale(theme) {
    const wide = Math.min(size.wide, 360);
    const unit = parseFloat(getComputedStyle(section).fontSize) / 16;
    const context = fit(scale, size.wide, 34 * unit);
    context.clearRect(0, 0, size.wide, 34 * unit);
    const values = store.rows().heads[shown()];
    const top = store.topOf(values);
    const ramp = store.ramps.dark;
    const step = context.createLinearGradient(0, 0, wide, 0);
    for (let i = 0; i < 256; i += 5)
      step.addColorStop(i / 255, `rgb(${ramp[3 * i]},${ramp[3 * i + 1]},${ramp[3 * i + 2]})`);
    context.fillStyle = step;
    context.fillRect(0, 6, wide, 10 * unit);
    context.font = `${11 * unit}px ${getComputedStyle(section).fontFamily}`;
    context.fillStyle = theme.muted;
    context.textBaseline = "top";
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      context.textAlign = { 0: "left", 1: "right" }[share] ?? "center";
      context.fillText(tidy(top * share ** 2), share * wide, 8 + 10 * unit);
    }
    context.textAlign = "left";
    const kinds = { fixed: "0 to 1", layer: "shared by the heads", own: "this head’s own" };
    const said = `weight, ${kinds[store.selection.scale] ?? ""}`;
    if (wide + context.measureText(said).width + 10 < size.wide)
      context.fillText(said, wide + 10, 5 + unit);
  }

  // ---- words

  function tellMass(theme) {
    const rows = store.rows();
    const mass = store.mass(rows.heads[shown()], rows.factor);
    const colours = [theme.heads[3], theme.heads[2], theme.heads[15]];
    const named = [
      ["class", mass.first],
      ["registers", mass.registers],
      ["patches", mass.patches],
    ];
    const outward = store.axis === "query";
    const present = named.map(([name], i) => [name, named[i][1], colours[i]]).filter(
      ([name]) =>
        name === "patches" ||
        (name === "class" ? mass.named > 0 : store.base.prefix > mass.named),
    );
    bar.replaceChildren(
      ...present.map(([, value, colour]) => {
        const part = element("span");
        part.style.width = `${(100 * value) / (mass.whole || 1)}%`;
        part.style.background = colour;
        return part;
      }),
    );
    const sign = rows.exact ? "" : "≈ ";
    const dot = (colour) => {
      const made = element("i", "hs-dot");
      made.style.background = colour;
      return made;
    };
    const words = present.flatMap(([name, value, colour]) => [
      dot(colour),
      outward
        ? `${name} ${sign}${(100 * value).toFixed(1)} % `
        : `${name} ${sign}${value.toFixed(3)} `,
    ]);
    const lead = outward ? "Goes to: " : "Comes from: ";
    parts.replaceChildren(lead, ...words, outward ? "" : `· in all ${mass.whole.toFixed(3)}`);
  }

  function sentence() {
    const { direction, head } = store.selection;
    const name = theToken(store, store.token());
    const which = capital(`${store.siteName()}, ${store.headName(head)}`);
    const verb = direction === "in" ? `who looks at ${name}` : `where ${name} looks`;
    say(says, `${which}: ${verb}. Brighter = more weight.`);
  }

  function status() {
    const missing = !store.rows() || !store.bitmap || store.drawn !== store.trace;
    stage.classList.toggle("hs-dim", missing);
    wait.hidden = !missing || Boolean(base && store.rows());
    if (missing) wait.textContent = store.onEvent ? `Fetching ${store.siteName()} …` : "Not in this file";
    const token = store.token();
    const rows = store.rows();
    if (!rows) return;
    const values = rows.heads[shown()];
    let best = store.base.prefix;
    for (let i = best; i < values.length; i++) if (values[i] > values[best]) best = i;
    const sign = rows.exact ? "" : "≈ ";
    const largest = rows.factor > 1 ? "a patch" : nameOf(store, best);
    const verb = store.axis === "query" ? "most to" : "most from";
    say(read, `${capital(nameOf(store, token))}: ${verb} ${largest}, ${sign}${values[best].toFixed(5)}`);
    chips.forEach((chip, i) => {
      chip.classList.toggle("hs-asked", i === token);
      chip.setAttribute("aria-pressed", String(i === (store.selection.token ?? 0)));
    });
  }

  function describe() {
    const [rows, cols] = store.base.grid;
    canvas.setAttribute(
      "aria-label",
      `Picture of ${rows} × ${cols} patches with the weights of ${store.siteName()}, ` +
        `${store.headName()}, ${store.base.model}${store.base.note ? ` (${store.base.note})` : ""}. ` +
        "Arrow keys choose a patch; Home the first token.",
    );
  }

  function render(theme) {
    buildPrefix();
    sentence();
    bare.setAttribute("aria-pressed", String(plain));
    if (stage.clientWidth && store.bitmap && store.drawn === store.trace && store.rows()) {
      measure();
      const { site, head, direction, scale: kind } = store.selection;
      const key = [
        ...[store.trace, site, head, direction, kind, store.token(), store.version, store.pictures],
        ...[size.wide, size.tall, devicePixelRatio, theme.mode, plain, store.read?.token],
      ].join();
      if (key !== painted) {
        painted = key;
        prepare();
        paint(theme);
        paintScale(theme);
        tellMass(theme);
        describe();
        count += 1;
        Object.assign(root().dataset, { painted: count, token: store.token() });
        performance.mark("headscope:painted");
      }
    }
    status();
  }

  function save() {
    const file = document.createElement("canvas");
    const [width, line] = [Math.max(canvas.width, 640), 26];
    file.width = width + 48;
    file.height = canvas.height + 3 * line + 48;
    const context = file.getContext("2d");
    context.fillStyle = getComputedStyle(root()).getPropertyValue("--hs-background");
    context.fillRect(0, 0, file.width, file.height);
    context.fillStyle = getComputedStyle(root()).getPropertyValue("--hs-text");
    const words = [store.base.model, says.textContent, store.base.note];
    words.forEach((text, i) => {
      context.font = `${i ? 400 : 600} 17px ${getComputedStyle(section).fontFamily}`;
      context.fillText(text, 24, 38 + i * line, width);
    });
    context.drawImage(canvas, 24, 30 + 3 * line);
    file.toBlob((blob) => {
      const link = element("a");
      link.href = URL.createObjectURL(blob);
      link.download = `image-layer-${store.site().layer}-head-${store.selection.head}.png`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    }, "image/png");
  }

  return { render };
}
