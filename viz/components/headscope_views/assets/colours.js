// Colours in force: the mode is read from the page, the ramp becomes a table of pixels.

export function parse(colour) {
  const hex = /^#([0-9a-f]{6})/i.exec(colour.trim());
  if (hex) return [0, 2, 4].map((i) => parseInt(hex[1].slice(i, i + 2), 16));
  const short = /^#([0-9a-f]{3})/i.exec(colour.trim());
  if (short) return [...short[1]].map((c) => parseInt(c + c, 16));
  const numbers = colour.match(/[\d.]+/g);
  return numbers?.length >= 3 ? numbers.slice(0, 3).map(Number) : null;
}

/** Relative luminance, WCAG 2. */
export function luminance(rgb) {
  const [r, g, b] = rgb.map((c) =>
    c <= 10.31475 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** "light" or "dark": from Streamlit's background where there is one, else from the system. */
export function modeOf(root) {
  const ground = parse(getComputedStyle(root).getPropertyValue("--st-background-color") || "");
  if (ground) return luminance(ground) < 0.18 ? "dark" : "light";
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** 768 bytes to 256 pixels as ImageData keeps them (red in the lowest byte). */
export function pixels(ramp) {
  const table = new Uint32Array(256);
  for (let i = 0; i < 256; i++)
    table[i] =
      (0xff000000 | (ramp[3 * i + 2] << 16) | (ramp[3 * i + 1] << 8) | ramp[3 * i]) >>> 0;
  return table;
}

/** Pixel of each quantised byte of a map with this maximum, when `top` has the last colour. */
export function table(ramp, max, top) {
  const all = pixels(ramp);
  const scale = Math.sqrt(max / top);
  return Uint32Array.from(all, (_, q) => all[Math.min(255, Math.round(q * scale))]);
}

/** The colour of one weight: colour is proportional to its square root. */
export function shade(ramp, value, top) {
  const i = Math.min(255, Math.round(255 * Math.sqrt(Math.max(0, value) / top)));
  return [ramp[3 * i], ramp[3 * i + 1], ramp[3 * i + 2]];
}

/** Text colour with a contrast of 4.5 or more on any ground. */
export function textOn(ground, wanted) {
  if (contrast(ground, parse(wanted)) >= 4.5) return wanted;
  return contrast(ground, [0, 0, 0]) >= contrast(ground, [255, 255, 255]) ? "#000000" : "#ffffff";
}

/** Colours of the mode in force, also as CSS variables on the root. */
export function applyTheme(root, store) {
  const mode = modeOf(root);
  const colours = store.base.theme[mode];
  for (const name of ["background", "surface", "text", "muted", "line", "primary"])
    root.style.setProperty(`--hs-${name}`, colours[name]);
  const { type_size: size } = store.base; // larger type for a projector
  root.style.fontSize = size ? `calc(var(--st-base-font-size, 16px) * ${size})` : "";
  root.style.colorScheme = mode;
  root.dataset.mode = mode;
  return { ...colours, mode, ramp: store.ramps[mode] };
}
