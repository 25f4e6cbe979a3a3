// What is painted of one head: its layout, and everything that the picture shows.

import { legible, nounOf } from "../../web/core/labels.js";
import { differenceScale, scoreScale, tableFor, weightScale } from "../../web/text/scale.js";
import { percent } from "./reading.js";
import { widthsOf } from "../../web/painting/painter.js";
import * as viewport from "../../web/painting/viewport.js";

/** @import {Head, Part, Theme, Variant} from "../../web/types" */
/** @import {Picture} from "../../web/painting/painter.js" */
/** @import {Space} from "../../web/core/view_panel.js" */
/** @import {TextState} from "../../web/text/state.js" */
/** @import {Layout, View} from "../../web/painting/viewport.js" */

/** @typedef {{trace: string, site: number, head: Head, variant: Variant, parts: Part[]}} Subject */

const READ = 24; // pixels of the line below the picture

/**
 * @param {TextState} state
 * @param {number} site
 * @param {Variant} variant
 * @param {Space} space
 */
export function layoutFor(state, site, { values, sinks }, { wide, high, unit, family }) {
  const { rows, cols } = state.ranges();
  const shares = sinks !== "shown";
  const sizes = {
    wide,
    unit,
    rows: rows[1] - rows[0],
    cols: cols[1] - cols[0],
    first: { row: rows[0], col: cols[0] },
    widths: widthsOf(state.labels(site), { wide, unit, family }),
    noted: Boolean(ownNote(state)) || shares,
    shares,
  };
  return viewport.layoutIn(sizes, high - READ, values === "weights");
}

/**
 * @param {TextState} state
 * @param {Subject} subject
 * @param {{layout: Layout, view: View, theme: Theme, family: string}} seen
 * @returns {Picture}
 */
export function pictureOf(state, { site, head, variant, parts }, seen) {
  const { theme } = seen;
  const scale = scaleOf(state, parts[0], variant, theme);
  const { token, direction } = state.selection;
  const { sinks } = parts[0];
  return {
    ...seen,
    parts: parts.map((part) => ({ part, table: tableFor(part, scale, theme) })),
    scale,
    sinks,
    numbers: numbersIn(state, { site, head, variant }, seen),
    absent: absentIn(state),
    pinned: token,
    inward: direction === "in",
    matches: { query: state.matchPlaces("query"), key: state.matchPlaces("key") },
    names: namesOf(state, site, head, variant.values),
    note: noteOf(state, sinks),
    labels: state.labels(site),
  };
}

/** The weights in view, where cells have room for them. */
function numbersIn(state, { site, head, variant }, { layout, view }) {
  if (variant.values !== "weights" || !viewport.hasRoom(layout, view)) return null;
  const { rows, cols } = viewport.visible(layout, view);
  return state.maps.window(site, head, rows, cols, variant);
}

const namesOf = (state, site, head, values) => [
  ...[state.base.model, state.siteName(site), state.headName(head)],
  ...(values === "scores" ? ["scores before the softmax"] : []),
  ...(values === "difference" ? ["after − before the edits"] : []),
];

function scaleOf(state, part, { coding }, theme) {
  if (coding === "scores") return scoreScale(theme, part);
  if (coding === "difference") return differenceScale(theme, part);
  return weightScale(theme, state.top(part), state.selection.scale === "own");
}

/** The note of the model, but for a caveat that the page says beside the names. */
const ownNote = ({ base: { note, caveat } }) => (note === caveat ? "" : note);

/** The note below the title: that of the model, and what became of the sinks. */
function noteOf(state, sinks) {
  const note = ownNote(state);
  if (!sinks) return note;
  const hidden = `${sinkNames(state, sinks)} hidden: ${percent(sinks.share)} of the weight`;
  return [hidden, note].filter(Boolean).join(" · ");
}

function sinkNames(state, { keys }) {
  const { key } = state.texts();
  const noun = nounOf(key);
  const names = keys.slice(0, 2).map((each) => `“${legible(key.labels[each]).trim()}”`);
  const more = keys.length - names.length;
  if (more) return `${names.join(", ")} and ${more} more ${noun}${more > 1 ? "s" : ""}`;
  return names.join(" and ") || `no ${noun}`;
}

/**
 * The block of a joint map that does not exist: the source cannot attend to the target.
 *
 * @returns {Picture["absent"]}
 */
function absentIn(state) {
  const { labels, second } = state.texts().query;
  if (state.site().kind !== "joint" || second === undefined) return null;
  return { rows: [0, second], cols: [second, labels.length] };
}

/**
 * The accessible name of the picture.
 *
 * @param {TextState} state
 * @param {Layout} layout
 * @param {Picture} picture
 */
export function describe(state, { rows, cols }, { names, note }) {
  const { query, key } = state.texts();
  return (
    `Attention of ${names.join(", ")}: ` +
    `${rows} query ${nounOf(query)}s (rows) over ${cols} key ${nounOf(key)}s (columns). ` +
    `${note ? `Note: ${note}. ` : ""}` +
    "Arrow keys move the cross-hair, plus and minus zoom, Escape resets, " +
    `Enter chooses the ${nounOf(query)}.`
  );
}
