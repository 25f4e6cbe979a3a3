// Canvases, scrolling and sizes; and files: data, or a drawing as SVG or its pixels.

import { render } from "../vendor/preact.js";

/** @import {Mode} from "../types" */

/** @param {Mode} mode */
export const moreIs = (mode) => (mode === "dark" ? "Brighter" : "Darker");

/**
 * The 2-D context of a canvas.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {CanvasRenderingContext2DSettings} [settings]
 */
export function contextOf(canvas, settings) {
  const context = canvas.getContext("2d", settings);
  if (!context) throw new Error("this browser has no 2-D canvas");
  return context;
}

/** The width of each label, at a size of 1. @param {string} family @param {string[]} labels */
export function textWidths(family, labels) {
  const context = contextOf(document.createElement("canvas"));
  context.font = `100px ${family || "sans-serif"}`;
  return labels.map((label) => context.measureText(label).width / 100);
}

/**
 * Scrolls a box until one of its children is in sight, and a third of the way down.
 *
 * @param {HTMLElement | null} box
 * @param {Element} child
 * @param {number} [above] height of what covers the top of the box
 */
export function reveal(box, child, above = 0) {
  if (!box) return;
  const [outer, inner] = [box.getBoundingClientRect(), child.getBoundingClientRect()];
  const isAbove = inner.top < outer.top + above;
  if (isAbove || inner.bottom > outer.top + box.clientHeight)
    box.scrollTop += inner.top - outer.top - box.clientHeight / 3;
}

/**
 * Offers a file.
 *
 * @param {Blob} blob
 * @param {string} name without its suffix
 * @param {string} suffix
 */
export function offer(blob, name, suffix) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${name.replace(/[^\w.-]+/g, "-").replace(/-$/, "")}${suffix}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Distance of an element from the top of the page, wherever the page is scrolled to. @param {Element} target */
export function topOf(target) {
  let top = target.getBoundingClientRect().top + scrollY;
  /** @type {Node | null} */
  let node = target.parentNode;
  while (node) {
    if (node instanceof Element && node !== document.documentElement) top += node.scrollTop;
    node = node instanceof ShadowRoot ? node.host : node.parentNode;
  }
  return top;
}

/**
 * Counts the pictures that a view has painted, in its `data-painted`.
 *
 * @param {Element} part of the view
 */
export function markPainted(part) {
  const root = /** @type {HTMLElement | null} */ (part.closest(".headscope"));
  if (root) root.dataset.painted = String(Number(root.dataset.painted ?? 0) + 1);
  performance.mark("headscope:painted");
}

/** @typedef {"svg" | "png"} Format */

const RATIO = 3; // pixels of a PNG for each unit of an SVG

export const FAMILY = "sans-serif"; // of text in a file

/** The text of an SVG. @param {any} picture an element of Preact */
export function svgText(picture) {
  const place = document.createElement("div");
  render(picture, place);
  return new XMLSerializer().serializeToString(/** @type {Node} */ (place.firstChild));
}

/**
 * Offers an SVG as a file.
 *
 * @param {string} svg
 * @param {readonly [number, number]} size in its own units
 * @param {string} name without its suffix
 * @param {Format} format
 */
export function saveDrawing(svg, [wide, tall], name, format) {
  const blob = new Blob([svg], { type: "image/svg+xml" });
  if (format === "svg") return offer(blob, name, ".svg");
  const image = new Image();
  image.onload = () => {
    const file = document.createElement("canvas");
    [file.width, file.height] = [Math.round(RATIO * wide), Math.round(RATIO * tall)];
    contextOf(file).drawImage(image, 0, 0, file.width, file.height);
    URL.revokeObjectURL(image.src);
    file.toBlob((png) => png && offer(png, name, ".png"), "image/png");
  };
  image.src = URL.createObjectURL(blob);
}
