// The diagram as a file: what the page's style sheet says is written into it.

import { offer, saveAsPng } from "../core/dom.js";
import { SPACE } from "./draw.js";

/**
 * @param {SVGSVGElement} picture
 * @param {string} background
 */
function written(picture, background) {
  const { width, height } = picture;
  const [wide, tall] = [width.baseVal.value, height.baseVal.value];
  picture.setAttribute("xmlns", SPACE);
  picture.setAttribute("viewBox", `0 0 ${wide} ${tall}`);
  picture.setAttribute("font-family", "system-ui, 'DejaVu Sans', Arial, sans-serif");
  for (const style of picture.querySelectorAll("style"))
    style.textContent = "text { dominant-baseline: middle; }";
  const ground = document.createElementNS(SPACE, "rect");
  for (const [name, value] of Object.entries({ width: wide, height: tall, fill: background }))
    ground.setAttribute(name, String(value));
  picture.prepend(ground);
  const text = new XMLSerializer().serializeToString(picture);
  return { blob: new Blob([text], { type: "image/svg+xml" }), wide, tall };
}

/**
 * @param {SVGSVGElement} picture
 * @param {string} background
 * @param {string} name
 */
export function savedSvg(picture, background, name) {
  offer(written(picture, background).blob, name, ".svg");
}

/**
 * @param {SVGSVGElement} picture
 * @param {string} background
 * @param {string} name
 */
export function savedPng(picture, background, name) {
  const { blob, wide, tall } = written(picture, background);
  saveAsPng(blob, wide, tall, name);
}
