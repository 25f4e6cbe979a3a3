// Boxes, texts and canvases of the page as an SVG that stands alone: each where it is, in its colours.

import { FAMILY, svgText } from "../core/dom.js";
import { html } from "../core/html.js";

const CONTROLS = "button:not([data-opens]), select"; // which do nothing on paper

/** @type {(place: HTMLElement, title: string) => {text: string, size: [number, number]}} */
export function drawingOf(place, title) {
  const { left, top, width, height } = place.getBoundingClientRect();
  const ground = getComputedStyle(place).getPropertyValue("--hs-background");
  const parts = /** @type {any[]} */ ([
    html`<title>${title}</title><rect ...${{ width, height, fill: ground }} />`,
  ]);
  const what = NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT;
  const nodes = document.createTreeWalker(place, what, (node) =>
    node instanceof Element && node.matches(CONTROLS) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  );
  for (let node = nodes.nextNode(); node; node = nodes.nextNode())
    parts.push(...(node instanceof Element ? boxOf(node, left, top) : textOf(node, left, top)));
  const frame = { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": FAMILY };
  return { text: svgText(html`<svg ...${frame}>${parts}</svg>`), size: [width, height] };
}

function boxOf(element, left, top) {
  const at = element.getBoundingClientRect();
  if (element instanceof HTMLCanvasElement) {
    const box = { x: at.left - left, y: at.top - top, width: at.width, height: at.height };
    const look = { preserveAspectRatio: "none", style: "image-rendering: pixelated" };
    return [html`<image ...${{ ...box, ...look, href: element.toDataURL() }} />`];
  }
  if (element.matches(".hs-build-funnel")) return [funnelOf(element, at.left - left, at.top - top)];
  const style = getComputedStyle(element);
  const fill = style.backgroundColor;
  const thick = parseFloat(style.borderRightWidth);
  const isClear = /^rgba\(.*, 0\)$|^transparent$/.test(fill);
  if (!at.width || (isClear && !thick)) return [];
  const look = {
    fill: isClear ? "none" : fill,
    stroke: thick ? style.borderRightColor : "none",
    "stroke-width": thick,
    ...(style.borderRightStyle === "dashed" ? { "stroke-dasharray": "4 3" } : {}),
  };
  const { width, height } = at;
  const [x, y] = [at.left - left, at.top - top];
  if (!parseFloat(style.borderLeftWidth) && thick)
    return [html`<path d=${`M${x + width} ${y}v${height}`} ...${look} />`]; // a bracket on the right
  return [html`<rect ...${{ x, y, width, height, rx: parseFloat(style.borderRadius) || 0, ...look }} />`];
}

/** From the box that is open to its card below. */
function funnelOf(element, x, y) {
  const { width, height } = element.getBoundingClientRect();
  const look = getComputedStyle(element);
  const [from, to] = ["--left", "--right"].map(
    (name) => x + (width * parseFloat(look.getPropertyValue(name))) / 100,
  );
  const d = `M${from} ${y}H${to}L${x + width} ${y + height}H${x}Z`;
  return html`<path ...${{ d, fill: look.backgroundColor, opacity: look.opacity }} />`;
}

function textOf(node, left, top) {
  const whole = document.createRange();
  whole.selectNodeContents(node);
  if (whole.getClientRects().length < 2) return lineOf(node, whole, left, top);
  return [...(node.textContent ?? "").matchAll(/\S+/g)].flatMap(({ 0: word, index }) => {
    const range = document.createRange();
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    return lineOf(node, range, left, top);
  });
}

/** A text, or a word of one that takes several lines. */
function lineOf(node, range, left, top) {
  const text = range.toString().trim();
  const at = range.getBoundingClientRect();
  if (!text || !at.width || !node.parentElement) return [];
  const { color: fill, fontSize, fontWeight } = getComputedStyle(node.parentElement);
  const place = {
    x: at.left - left,
    y: at.top - top + at.height / 2,
    "dominant-baseline": "middle",
    textLength: at.width,
    lengthAdjust: "spacingAndGlyphs",
  };
  return [
    html`<text ...${{ ...place, fill, "font-size": fontSize, "font-weight": fontWeight }}>${text}</text>`,
  ];
}
