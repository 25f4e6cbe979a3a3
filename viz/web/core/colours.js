// Colours in force: the mode is read from the page, the weight scale becomes a table of pixels.

/** @import {Mode, Theme, ThemeColours} from "../types" */

/** @typedef {[number, number, number]} Rgb */

const NAMES = /** @type {const} */ (["background", "surface", "text", "muted", "line", "primary"]);

/** A CSS colour in hexadecimal digits or as rgb(); null for any other. @type {(colour: string) => Rgb | null} */
export function parse(colour) {
  const hex = /^#([0-9a-f]{3,8})/i.exec(colour.trim())?.[1];
  if (hex) {
    const digits = hex.length < 6 ? [...hex].map((digit) => digit + digit).join("") : hex;
    const part = (i) => parseInt(digits.slice(i, i + 2), 16);
    return [part(0), part(2), part(4)];
  }
  const [red, green, blue] = colour.match(/[\d.]+/g)?.map(Number) ?? [];
  return red === undefined || green === undefined || blue === undefined ? null : [red, green, blue];
}

/** Relative luminance, WCAG 2. */
function luminance(rgb) {
  const linear = (c) => (c <= 10.31475 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(rgb[0]) + 0.7152 * linear(rgb[1]) + 0.0722 * linear(rgb[2]);
}

/** @param {Rgb} a @param {Rgb} b */
export function contrast(a, b) {
  const [one, other] = [luminance(a), luminance(b)];
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}

/**
 * "light" or "dark": from Streamlit's background where there is one, else from the system.
 *
 * @type {(root: Element) => Mode}
 */
export function modeOf(root) {
  const ground = parse(getComputedStyle(root).getPropertyValue("--st-background-color") || "");
  if (ground) return luminance(ground) < 0.18 ? "dark" : "light";
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** The colour at a share of a scale, from 0 to 1. @type {(ramp: Uint8Array, share: number) => Rgb} */
export function colourAt(ramp, share) {
  const i = 3 * Math.min(255, Math.max(0, Math.round(255 * share)));
  return [ramp[i], ramp[i + 1], ramp[i + 2]];
}

/**
 * Where a number stands on a scale up to `top`, from 0 to 1: as its square root, with zero in the middle where the
 * scale is signed.
 *
 * @type {(value: number, top: number, isSigned?: boolean) => number}
 */
export function levelOf(value, top, isSigned = false) {
  const root = Math.sqrt(Math.abs(value) / top);
  return isSigned ? 0.5 + (Math.sign(value) * root) / 2 : Math.sign(value) * root;
}

/** @type {(theme: Pick<Theme, "ramp" | "bothWays">, value: number, top: number, isSigned?: boolean) => Rgb} */
export const colourOf = ({ ramp, bothWays }, value, top, isSigned = false) =>
  colourAt(isSigned ? bothWays : ramp, levelOf(value, top, isSigned));

/** A colour as ImageData keeps it: red in the lowest byte. @type {(colour: Rgb, alpha?: number) => number} */
export const pixelOf = ([red, green, blue], alpha = 255) =>
  ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;

/** Text colour with a contrast of 4.5 or more on any ground. @param {Rgb} ground @param {string} wanted */
export function textOn(ground, wanted) {
  if (contrast(ground, parse(wanted) ?? [0, 0, 0]) >= 4.5) return wanted;
  return contrast(ground, [0, 0, 0]) >= contrast(ground, [255, 255, 255]) ? "#000000" : "#ffffff";
}

/**
 * Colours of the mode in force, also set as CSS variables on the root, with the scales; and the size of type.
 *
 * @param {HTMLElement} root
 * @param {Record<Mode, ThemeColours>} colours
 * @param {Uint8Array} area of the message that has the colours
 * @param {number} size factor of the size of type
 * @returns {Theme}
 */
export function themeOf(root, colours, area, size) {
  const mode = modeOf(root);
  const ours = colours[mode];
  for (const name of NAMES) root.style.setProperty(`--hs-${name}`, ours[name]);
  root.style.fontSize = size === 1 ? "" : `calc(var(--st-base-font-size, 16px) * ${size})`;
  root.style.colorScheme = mode;
  root.dataset.mode = mode;
  const ramp = (at) => area.subarray(at, at + 768);
  return { ...ours, mode, ramp: ramp(ours.sequential), bothWays: ramp(ours.diverging) };
}
