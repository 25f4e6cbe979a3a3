// Objects that a detector finds: a row for each, boxes and sampling points over the picture.

import { element, setAttribute } from "../core/dom.js";
import { percent } from "./picture_maps.js";

/** @import {Detected, SampledPoints} from "../types" */

const FEW = 5; // of the surest, where none is sure enough
const MOST = 24; // that are listed
const NAMED = 8; // boxes up to which each has its name
const FONT = 12; // CSS pixels of a name
const DOT = 7; // of a point with all of the weight

/**
 * The objects that are listed, the surest first: those at least as sure, else the surest few, and the
 * chosen ones.
 *
 * @param {Detected[]} objects
 * @param {number} least score
 * @param {number[]} chosen
 */
export function listed(objects, least, chosen) {
  const order = objects.map((_, i) => i).sort((a, b) => objects[b].score - objects[a].score || a - b);
  const sure = order.filter((i) => objects[i].score >= least).length;
  const most = Math.min(MOST, sure || FEW);
  return order.filter((i, place) => place < most || chosen.includes(i));
}

/**
 * The smallest of some boxes that holds a place of the picture; −1 for none.
 *
 * @param {Detected[]} objects
 * @param {number[]} among
 * @param {number} across share of the width
 * @param {number} down share of the height
 */
export function boxAt(objects, among, across, down) {
  const size = (i) => (objects[i].box[2] - objects[i].box[0]) * (objects[i].box[3] - objects[i].box[1]);
  const holding = among.filter((i) => {
    const [left, top, right, bottom] = objects[i].box;
    return across >= left && across <= right && down >= top && down <= bottom;
  });
  return holding.sort((a, b) => size(a) - size(b))[0] ?? -1;
}

/** @param {Detected} object */
export const nameOf = ({ name, score }) => `${name} ${percent(score)}`;

/**
 * A row of buttons, one for each object.
 *
 * @param {(object: number) => void} choose
 */
export function objectList(choose) {
  const box = element("div", "hs-answer-words hs-objects", { role: "radiogroup", "aria-label": "Objects" });
  /** @type {HTMLElement[]} */
  let chips = [];
  box.onclick = (event) => {
    const chip = /** @type {Element} */ (event.target).closest("[data-index]");
    if (chip instanceof HTMLElement) choose(Number(chip.dataset.index));
  };
  box.onkeydown = (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const at = chips.indexOf(/** @type {HTMLElement} */ (event.target));
    if (at < 0 || !by || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    chips[Math.min(Math.max(0, at + by), chips.length - 1)].focus();
  };
  return {
    box,
    /**
     * @param {Detected[]} objects
     * @param {number[]} among
     */
    fill(objects, among) {
      chips = among.map((i) => {
        const chip = element("button", "hs-chip", { type: "button", role: "radio", "data-index": String(i) });
        chip.title = `object query ${i}`;
        chip.append(element("bdi", "", {}, objects[i].name), ` ${percent(objects[i].score)}`);
        return chip;
      });
      box.replaceChildren(...chips);
    },
    /** @param {number} chosen @param {number} second */
    mark(chosen, second) {
      chips.forEach((chip, place) => {
        const index = Number(chip.dataset.index);
        setAttribute(chip, "aria-checked", String(index === chosen));
        chip.classList.toggle("hs-current", index === chosen);
        chip.classList.toggle("hs-second", index === second);
        chip.tabIndex = index === chosen || (chosen < 0 && place === 0) ? 0 : -1;
      });
    },
  };
}

/**
 * Boxes with their names, the chosen one on top.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Detected[]} objects
 * @param {number[]} among
 * @param {{chosen: number, colour: string, on: string, ratio: number, weights?: ArrayLike<number> | null}} how
 *   `on` is the colour of a name on `colour`; weights are told in place of scores
 */
export function drawBoxes(context, objects, among, { chosen, colour, on, ratio, weights }) {
  const { width, height } = context.canvas;
  context.font = `600 ${FONT * ratio}px system-ui, sans-serif`;
  context.textBaseline = "top";
  const order = [...among].sort((a, b) => Number(a === chosen) - Number(b === chosen));
  for (const i of order) {
    const [left, top, right, bottom] = objects[i].box.map((side) => Math.min(1, Math.max(0, side)));
    const isChosen = i === chosen;
    const place = /** @type {const} */ ([left * width, top * height, (right - left) * width, (bottom - top) * height]);
    context.lineWidth = (isChosen ? 5 : 3) * ratio;
    context.strokeStyle = "rgba(0, 0, 0, 0.6)";
    context.strokeRect(...place);
    context.lineWidth = (isChosen ? 3 : 1.5) * ratio;
    context.strokeStyle = isChosen ? colour : "#fff";
    context.strokeRect(...place);
    if (!isChosen && among.length > NAMED) continue;
    const name = weights ? `${objects[i].name}: ${weights[i].toFixed(3)}` : nameOf(objects[i]);
    const wide = context.measureText(name).width + 8 * ratio;
    const high = (FONT + 6) * ratio;
    const [x, y] = [Math.max(0, Math.min(place[0], width - wide)), Math.max(0, place[1] - high)];
    context.fillStyle = isChosen ? colour : "rgba(0, 0, 0, 0.72)";
    context.fillRect(x, y, wide, high);
    context.fillStyle = isChosen ? on : "#fff";
    context.fillText(name, x + 4 * ratio, y + 3 * ratio);
  }
}

/**
 * Points where a query samples the picture: the area of each is its weight.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {SampledPoints} points
 * @param {{colour: string, ratio: number}} how
 */
export function drawPoints(context, { places, weights }, { colour, ratio }) {
  const { width, height } = context.canvas;
  const most = Math.max(1e-9, ...weights);
  context.lineWidth = 1.25 * ratio;
  context.strokeStyle = "#fff";
  context.fillStyle = colour;
  places.forEach(([across, down], i) => {
    context.beginPath();
    const radius = Math.max(1.2, DOT * Math.sqrt(weights[i] / most)) * ratio;
    context.arc(across * width, down * height, radius, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  });
}

/**
 * How many points lie outside the picture, as words; "" for none.
 *
 * @param {SampledPoints} points
 */
export function outside({ places }) {
  const count = places.filter((place) => place.some((share) => share < 0 || share > 1)).length;
  return count ? `, ${count} outside the picture` : "";
}
