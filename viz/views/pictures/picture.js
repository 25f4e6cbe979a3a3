// One picture, its maps, and what is marked on it.

import { cellBeside, cellOf, tokenAt } from "../../web/core/grids.js";
import { html } from "../../web/core/html.js";
import { stepOf } from "../../web/core/keys.js";
import { capital } from "../../web/core/labels.js";
import { pathOf } from "../../web/core/sources.js";
import { probability } from "../../web/core/ticks.js";
import { pixelsOf } from "../../web/painting/pixels.js";
import { Area, fitted, OverPicture } from "../../web/parts/over_picture.js";
import { useMemo } from "../../web/vendor/hooks.js";
import { boxAt, Boxes, Points, tokensText } from "./sheets.js";
import { pointsText, scaleText } from "./words.js";

/** @import {TextState} from "../../web/text/state.js" */
/** @import {Look, Sheet} from "./sheets.js" */
/** @import {Questions} from "./questions.js" */

const LEAST = 160; // CSS pixels of a picture’s height
const TALLEST = 700;
const LEGEND = 24; // below it
const NARROW = 700; // of a section that has the numbers below its pictures
const GAP = 16; // between pictures
const BESIDE = 300; // of the numbers beside them

/** @typedef {{ramp: Uint8Array, top: number, isSigned: boolean, opacity: number}} Scale */

/**
 * @param {object} props
 * @param {TextState} props.state
 * @param {Look} props.look
 * @param {Questions} props.questions
 * @param {Sheet} props.sheet
 * @param {number} props.count of the pictures beside each other
 * @param {ImageBitmap | null} props.photo
 * @param {Map<unknown, Float32Array | null>} props.maps of grids
 * @param {Scale} props.scale
 * @param {import("../../web/core/hooks.js").Space} props.space
 * @param {ArrayLike<number> | null} props.row of all tokens
 * @param {any} props.points
 * @param {(query: number | null) => void} props.onPoint
 * @param {string} props.about
 */
export function Picture({ state, look, questions, sheet, photo, row, points, ...drawing }) {
  const { count, maps, scale, space, onPoint, about } = drawing;
  const { objects, among, object, grids } = look;
  const { isOffered, drawn } = questions;
  const asking = look.asking.filter(({ picture }) => picture === sheet.picture);
  const values = useMemo(() => sheet.grids.flatMap((grid) => maps.get(grid) ?? []), [sheet, maps]);
  const isWeighed = row && !grids.length && look.rowOf(0) >= 0;
  const layers = useMemo(
    () =>
      sheet.grids.flatMap((grid) => {
        const map = maps.get(grid);
        return map ? [{ grid, pixels: pixelsOf(map, scale) }] : [];
      }),
    [sheet, maps, scale],
  );
  const boxes = among.map((i) => {
    const { name, score, box } = objects[i];
    const number = isWeighed ? `: ${row[look.rowOf(i)].toFixed(3)}` : ` ${probability(score)}`;
    return { name: `${name}${number}`, box, isChosen: i === object };
  });
  const marks = html`
    <${Boxes} boxes=${boxes} />
    ${points && html`<${Points} ...${points} />`}
    <${Area} kind="hs-at-chosen" sides=${cellOf(asking, look.framed)} />
  `;
  const abreast = Math.min(2, count);
  const room = space.wide < NARROW ? space.wide : (space.wide - BESIDE - GAP * (abreast - 1)) / abreast;
  const tallest = Math.min(TALLEST, Math.max(LEAST, space.high - LEGEND));
  const size = fitted({ ...space, wide: room }, photo, tallest);
  const several = sheet.frames.length
    ? ""
    : (state.base.pictures ?? 1) > 1
      ? `Picture ${sheet.picture + 1}`
      : "Picture";
  const legend = [
    object < 0 ? "" : `${objects[object].name} ${probability(objects[object].score)}`,
    capital([several, sheet.name].filter(Boolean).join(", ")),
    tokensText(sheet),
    points ? pointsText(points) : "",
    scale.isSigned || !values.length ? "" : scaleText(values, scale.top),
  ].filter(Boolean);
  const cellUnder = (place) => (state.selection.direction === "in" ? -1 : tokenAt(asking, place));
  const choose = (place) => {
    const { site, head } = state.selection;
    const at = boxAt(objects, among, place);
    if (at >= 0) return look.pickObject(at);
    const cell = cellUnder(place);
    if (cell >= 0) return state.select({ token: cell, direction: "out" });
    const token = tokenAt(sheet.grids, place);
    const isHeld = token >= 0 && state.holds(pathOf("row", { site, head, axis: "key", index: token }));
    if (isHeld) state.select({ token, direction: "in" });
  };
  const walk = (event) => {
    const { token, direction } = state.selection;
    const next = token === null || direction === "in" ? -1 : cellBeside(look.asking, token, stepOf(event));
    if (next < 0) return;
    event.preventDefault();
    state.select({ token: next, direction: "out" });
  };
  const point = (place) => {
    const cell = place ? cellUnder(place) : -1;
    onPoint(cell < 0 ? null : cell);
  };
  const isWalked = look.asking.length > 0 || (isOffered && sheet.grids.length > 0);
  return html`
    <figure class="hs-pictures-sheet">
      ${
        photo &&
        size &&
        html`<${OverPicture}
        ...${{ bitmap: photo, layers, size, marks, label: `${legend.join(", ")}. ${about}`, isArea: isOffered }}
        onPoint=${look.asking.length ? point : undefined}
        onChoose=${choose}
        onKey=${isWalked ? (event) => (isOffered ? questions.extend(sheet, event) : walk(event)) : undefined}
        onArea=${(sides, isDone) => questions.draw(sheet, sides, isDone)}
      >
        ${drawn?.picture === sheet.picture && html`<${Area} sides=${drawn.sides} />`}
      <//>`
      }
      <figcaption class="hs-name">${legend.join(" · ")}</figcaption>
    </figure>
  `;
}
