// The picture of a step whose question waits: what the step before does not show has no numbers, colours or lengths.

/** @import {Ink, Mark} from "../types" */

const NUMBERS = /[−-]?\d[\d,]*(\.\d+)?\u00a0?%|[−-]?\d+\.\d+|^[−-]?[\d,]+$/g;
const BESIDE = 6; // units between a bar and its number
const WAKE = ["tip", "of", "handle", "press", "edit", "flow"]; // what a mark does or says
const ASLEEP = Object.fromEntries(WAKE.map((name) => [name, undefined]));
const SURE = /** @type {const} */ (["kind", "text", "fill", "stroke", "href"]);

/** @type {(marks: Mark[], before: Mark[], ink: Ink) => Mark[]} */
export function veiled(marks, before, { background, surface, line, muted, text }) {
  const known = new Map(before.map((mark) => [mark.key, mark]));
  const rooms = new Map(marks.map(({ key, full }) => [key, full]));
  const calm = new Set([background, surface, "none", undefined]);
  return marks.flatMap((mark) => {
    const earlier = known.get(mark.key);
    const isKnown = earlier && SURE.every((name) => earlier[name] === mark[name]);
    if (isKnown && shareOf(earlier) === shareOf(mark)) return [mark];
    const still = { ...mark, ...ASLEEP };
    const { full } = mark;
    if (mark.kind === "text") {
      const room = rooms.get(mark.key.replace(/\/number$/, "")); // of the bar that the number stands beside
      const place = room ? { x: room.x + room.w + BESIDE } : {};
      return [{ ...still, ...place, text: mark.text?.replace(NUMBERS, "?"), fill: text }];
    }
    if (full) return [{ ...still, ...full, fill: "none", stroke: muted, width: 1, dash: "4 4" }];
    if (mark.kind === "rect" && !calm.has(mark.fill))
      return [{ ...still, fill: "none", stroke: line, width: 1 }];
    if (mark.kind === "rect" || mark.kind === "image") return [still];
    const isAxis = mark.kind === "line" && [line, muted].includes(mark.stroke ?? "");
    return isAxis ? [still] : [];
  });
}

/** How much of its room a bar fills. @param {Mark} mark */
const shareOf = ({ w = 0, h = 0, full }) => (full ? ((w * h) / (full.w * full.h)).toFixed(2) : "");
