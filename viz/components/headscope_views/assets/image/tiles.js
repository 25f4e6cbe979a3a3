// The small pictures of all heads, in layers: what goes to whom (shows through slits), labels and
// dim pictures, the weights, frames. Only weights and slits are drawn anew when the patch changes.

import { massColours } from "./imagescale.js";
import { colourPatches, fit, frameSize, grounds, moveFrame } from "./overlay.js";
import { newsOf, pixelsOf, remark, stretch } from "./overlay.js";
import { element, say } from "./view.js";

const GAP = 10; // CSS pixels between two tiles, about
const SMALLEST = 92;
const BEST = 148;
const FINE = 5; // CSS pixels of a pixel of the weights, at most
const LEAST = 7; // of a frame

export const labelOf = (name) => (typeof name === "number" ? `head ${name}` : `${name} of heads`);

/**
 * Where everything goes, CSS pixels. The weights of all tiles are one small image: distances
 * between tiles are whole numbers of its pixels.
 */
export function planOf(room, { width, height }, count, [rows, cols], unit) {
  let across = Math.max(Math.min(3, count), Math.floor((room + GAP) / (BEST * unit + GAP)));
  across = Math.min(across, count, Math.max(1, Math.floor((room + GAP) / (SMALLEST + GAP))));
  const wide = Math.floor(Math.min((room - across * FINE + GAP) / across - GAP, 1.3 * BEST * unit));
  const tall = Math.round((wide * height) / width);
  const side = Math.ceil(wide / cols / FINE);
  const [fineX, fineY] = [wide / (cols * side), tall / (rows * side)];
  const label = 20 * unit;
  const apart = Math.max(1, Math.round(GAP / fineX));
  const below = Math.ceil((label + 18 * unit) / fineY);
  const [stepX, stepY] = [wide + apart * fineX, tall + below * fineY];
  const down = Math.ceil(count / across);
  return {
    ...{ across, down, count, wide, tall, label, side, stepX, stepY, unit },
    pixels: [across * (cols * side + apart) - apart, down * (rows * side + below)],
    pixelStep: [cols * side + apart, rows * side + below],
    whole: [across * stepX - apart * fineX, down * stepY],
    places: Array.from({ length: count }, (_, i) => [
      (i % across) * stepX,
      Math.floor(i / across) * stepY,
    ]),
  };
}

export function tilesOf(store) {
  const slits = element("canvas", "hs-layer hs-veil");
  const ground = element("canvas", "hs-layer");
  const veil = element("canvas", "hs-layer hs-veil");
  const asked = element("div", "hs-layer hs-marks");
  const read = element("div", "hs-layer hs-marks hs-marks-read");
  const label = element("span", "hs-tile-label");
  const chosen = element("div", "hs-tile", { "aria-hidden": "true" }, label, element("i"));
  const tiles = element(
    "div",
    "hs-picture hs-tiles",
    { role: "img", tabindex: "0" },
    ...[slits, ground, veil, asked, read, chosen],
  );
  const veiled = pixelsOf(veil);
  const news = newsOf();
  let dim = null;
  let frame = null;

  function render(plan, theme, family) {
    const { grid, note } = store.base;
    const rows = store.rows();
    const { scale, head } = store.selection;
    const size = [store.drawn, plan.wide, plan.across, plan.count, plan.unit, devicePixelRatio, grid];
    if (news("size", ...size)) prepare(plan);
    if (news("ground", ...size, theme.mode, note, family)) paintGround(plan, theme, family);
    if (news("veil", ...size, rows.key, scale)) paintVeil(plan, rows);
    if (news("slits", ...size, rows.key, theme.mode)) paintSlits(plan, rows, theme);
    if (news("asked", ...size, store.token())) moveFrame(asked, store.token(), store, frame);
    if (news("read", ...size, store.read?.token)) moveFrame(read, store.read?.token, store, frame);
    if (news("chosen", ...size, head, theme.mode)) choose(plan);
  }

  function prepare(plan) {
    const ratio = devicePixelRatio || 1;
    const { wide, tall, places } = plan;
    ({ dim } = grounds(store.bitmap, Math.round(wide * ratio), Math.round(tall * ratio)));
    stretch(tiles, plan.whole[0], plan.whole[1] + (store.base.note ? 22 : 0));
    frame = frameSize(wide, tall, store.base.grid, LEAST);
    for (const marks of [asked, read])
      marks.replaceChildren(
        ...places.map(([x, y]) => {
          const mark = element("i", "hs-mark");
          stretch(mark, frame.wide, frame.tall);
          [mark.style.left, mark.style.top] = [`${x}px`, `${y + plan.label}px`];
          return mark;
        }),
      );
    stretch(chosen, wide, plan.label + tall);
    chosen.style.gridTemplateRows = `${plan.label}px ${tall}px`;
    slits.style.top = "0";
    veil.style.top = `${plan.label}px`;
  }

  function paintGround({ wide, tall, label: high, unit, places, whole }, theme, family) {
    const note = store.base.note ? 22 : 0;
    const context = fit(ground, whole[0], whole[1] + note);
    context.fillStyle = theme.background;
    context.fillRect(0, 0, whole[0], whole[1] + note);
    context.textBaseline = "alphabetic";
    store.heads().forEach((name, i) => {
      const [x, y] = places[i];
      context.font = `400 ${12.5 * unit}px ${family}`;
      context.fillStyle = theme.text;
      context.fillText(labelOf(name), x, y + high - 6 * unit);
      context.drawImage(dim, x, y + high, wide, tall);
      context.clearRect(x, y + high + tall + 3 * unit, wide, 5 * unit);
    });
    remark(context, store.base.note, whole[0], whole[1] + note, `600 ${11 * unit}px ${family}`);
  }

  function paintVeil({ side, across, pixels: [width, height], pixelStep, whole }, rows) {
    const pixels = veiled.image(width, height);
    stretch(veil, ...whole);
    rows.heads.forEach((values, i) => {
      const at = Math.floor(i / across) * pixelStep[1] * width + (i % across) * pixelStep[0];
      const top = store.topOf(values);
      colourPatches(pixels, { at, stride: width, side }, values, store, rows.factor, top);
    });
    veiled.show();
  }

  /** One line of pixels a row of tiles: it lies below the ground, which lets it through in slits. */
  function paintSlits({ across, down, wide, places, whole }, rows, theme) {
    const width = Math.round(whole[0]);
    if (slits.width !== width || slits.height !== down) [slits.width, slits.height] = [width, down];
    stretch(slits, ...whole);
    const context = slits.getContext("2d");
    const colours = massColours(theme);
    rows.heads.forEach((values, i) => {
      const mass = store.mass(values, rows.factor);
      let [from] = places[i];
      [mass.first, mass.registers, mass.patches].forEach((value, part) => {
        const long = (wide * value) / (mass.whole || 1);
        context.fillStyle = colours[part];
        context.fillRect(from, Math.floor(i / across), long, 1);
        from += long;
      });
    });
  }

  /** The chosen head's label and frame are one element that moves. */
  function choose({ places }) {
    const [x, y] = places[store.shown];
    chosen.style.transform = `translate(${x}px, ${y}px)`;
    say(label, labelOf(store.selection.head));
  }

  return { tiles, render };
}
