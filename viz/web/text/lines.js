// Lines between two columns of tokens: on the left the tokens that attend, on the right those that
// are attended to. The heads that are switched on are drawn together, each in its own colour.

import { changes } from "../core/changes.js";
import {
  contextOf,
  element,
  markPainted,
  quoted,
  savePng, setAttribute,
  setText,
  topOf,
} from "../core/dom.js";
import { capital, legible, nounOf } from "../core/labels.js";
import { column } from "./column.js";
import { DOUBT } from "../../views/matrix/claims.js";
import { fontOf, shortened } from "../painting/lettering.js";
import { strongestOnly } from "./filters.js";
import { isDrawn } from "./span.js";
import { apart, strandsOf, strongest } from "./strands.js";
import { headColour, headSwitches } from "./switches.js";
import { tallestPlot } from "../painting/viewport.js";

/** @import {Axis, Head, Theme} from "../types" */
/** @import {TextState} from "./state.js" */
/** @import {Strand} from "./strands.js" */

const ROW = 24; // pixels of a token at a unit of 1
const BELOW = 90; // pixels for the numbers at a unit of 1
const THICK = 1.6; // pixels of a line at a unit of 1
const LEVELS = 24; // opacities in which lines are drawn, each in one stroke
const BESIDE = 5; // moments around the one that is scrolled to
const NAMED = 3; // of the strongest pairs, and of the heads, that are read out
/** @param {string} noun */
const hintOf = (noun) => `Point at a ${noun} to see its lines alone, with numbers; click to keep it, Escape lets go.`;

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function lines(state, parent) {
  const sentence = element("p", "hs-sentence");
  const title = element("p", "hs-heading");
  const switches = headSwitches(state);
  const { heads } = switches;
  const canvas = element("canvas", "hs-strands", { role: "img" });
  const left = column("", "query", actionsOf("query"));
  const right = column("", "key", actionsOf("key"));
  const stage = element("div", "hs-bipartite", {}, left.box, canvas, right.box);
  const above = { query: element("span"), key: element("span") };
  const headings = element("div", "hs-bipartite-headings", {}, above.query, above.key);
  const read = element("div", "hs-read", { "aria-live": "polite" });
  const doubt = element("p", "hs-doubt", {}, DOUBT);
  const section = element(
    "section",
    "hs-section hs-lines",
    {},
    ...[title, sentence, switches.box, headings, stage, read, doubt],
  );
  parent.append(section);

  const arranged = changes();
  const painted = changes();
  let row = ROW;
  let height = 0;
  let family = "";
  let unit = 1;
  /** @type {{axis: Axis, range: import("./span.js").Range} | null} */
  let brushed = null; // what a drag would choose
  const jumped = changes();
  const followed = changes();

  /**
   * @param {Axis} axis
   * @returns {import("./column.js").Actions}
   */
  function actionsOf(axis) {
    return {
      point: (index) => state.isolate(index === null ? null : { axis, index }),
      pin(index) {
        const pinned = pinnedOf();
        const again = pinned?.axis === axis && pinned.index === index;
        state.select({ token: again ? null : index, direction: axis === "key" ? "in" : "out" });
      },
      letGo() {
        state.isolate(null);
        state.letGo();
      },
      brushing: {
        pinned() {
          const pinned = pinnedOf();
          return pinned?.axis === axis ? pinned.index : null;
        },
        mark(range) {
          brushed = range && { axis, range };
          state.changed();
        },
        apply: (range) => state.brush(axis, range),
      },
      cross: () => (axis === "query" ? right : left).focus(),
      scrolled: () => state.changed(),
    };
  }

  /** @returns {{axis: Axis, index: number} | null} */
  function pinnedOf() {
    const { token, direction } = state.selection;
    return token === null ? null : { axis: direction === "in" ? "key" : "query", index: token };
  }

  // ---- drawing

  function arrange() {
    const style = getComputedStyle(section);
    unit = parseFloat(style.fontSize) / 16;
    family = style.fontFamily;
    row = Math.round(ROW * unit);
    const { query, key } = state.texts();
    const { rows, cols } = state.ranges();
    const [down, across] = [rows[1] - rows[0], cols[1] - cols[0]];
    const most = Math.max(down, across) * row;
    height = Math.min(most, Math.ceil(tallestPlot(innerHeight, topOf(stage), BELOW * unit)));
    left.arrange(query, row, Math.min(height, down * row), rows);
    right.arrange(key, row, Math.min(height, across * row), cols);
    stage.style.height = `${height}px`;
  }

  /** Scrolls a recording to the moment with most of the pinned token's weight, once it is known. */
  function follow() {
    const { site, head, token, direction } = state.selection;
    const moment = state.moment();
    if (moment === null || !followed(state.trace, site, head, token, direction)) return;
    const { rows, cols } = state.ranges();
    const [side, [from, to]] = direction === "in" ? /** @type {const} */ ([left, rows]) : /** @type {const} */ ([right, cols]);
    side.reveal(Math.min(to - 1, moment + BESIDE));
    side.reveal(Math.max(from, moment - BESIDE));
  }

  /**
   * The lines in sight of one head; null until its weights have come.
   *
   * @param {Head} head
   * @returns {Strand[] | null}
   */
  function strands(head) {
    const { site } = state.selection;
    let [rows, cols] = [left.range(), right.range()];
    const active = state.isolated ?? pinnedOf();
    const sight = rows;
    if (active && isDrawn(state.ranges(), active.axis, active.index)) {
      if (active.axis === "query") rows = [active.index, active.index + 1];
      else cols = [active.index, active.index + 1];
    }
    const weights = state.maps.window(site, head, rows, cols);
    if (!weights) return null;
    const every = strandsOf(weights, rows, cols, state.least(head));
    if (!state.selection.top) return every;
    const few = state.strongest(head, sight);
    return few && strongestOnly(every, few);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} width
   * @param {Theme} theme
   */
  function paintLines(context, width, theme) {
    const { site } = state.selection;
    context.lineWidth = THICK * unit;
    const on = heads();
    const below = apart(on.length, row, THICK * unit);
    on.forEach((head, i) => {
      const top = state.top(state.parts(site, head)[0]);
      /** @type {Strand[][]} */
      const levels = Array.from({ length: LEVELS }, () => []);
      for (const strand of strands(head) ?? [])
        levels[Math.min(LEVELS - 1, Math.floor(Math.sqrt(strand.weight / top) * LEVELS))].push(strand);
      context.strokeStyle = headColour(head, theme);
      levels.forEach((alike, level) => {
        if (!alike.length) return;
        context.globalAlpha = (level + 1) / LEVELS;
        context.beginPath();
        for (const { query, key } of alike) {
          context.moveTo(0, (query + 0.5) * row - left.offset() + below[i]);
          context.lineTo(width, (key + 0.5) * row - right.offset() + below[i]);
        }
        context.stroke();
      });
    });
    context.globalAlpha = 1;
  }

  /** @param {Theme} theme */
  function paint(theme) {
    const ratio = devicePixelRatio || 1;
    const width = canvas.clientWidth;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = contextOf(canvas);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    paintLines(context, width, theme);
    markPainted(section);
    const names = heads().map((head) => state.headName(head));
    canvas.setAttribute(
      "aria-label",
      `Lines of ${state.base.model}, ${state.siteName()}, ${names.join(", ")}`,
    );
  }

  // ---- numbers

  /**
   * A token's weights in one direction, as exactly as they are here; null if they are not.
   *
   * @param {Head} head
   * @param {Axis} axis
   * @param {number} index
   * @returns {{values: ArrayLike<number>, sign: "" | "≈"} | null}
   */
  function valuesOf(head, axis, index) {
    const { site } = state.selection;
    const exact = state.maps.exact(site, head, axis, index);
    if (exact) return { values: exact.weights, sign: "" };
    const { queries, keys } = state.site();
    /** @type {[number, number]} */
    const one = [index, index + 1];
    const values = state.maps.window(
      ...[site, head],
      axis === "query" ? one : [0, queries],
      axis === "query" ? [0, keys] : one,
    );
    return values && { values, sign: "≈" };
  }

  /**
   * One direction of a token's strongest pairs, as nodes.
   *
   * @param {Head} head
   * @param {Axis} axis
   * @param {number} index
   * @param {string} verb
   * @returns {(Node | string)[]}
   */
  function pairs(head, axis, index, verb) {
    const values = valuesOf(head, axis, index);
    if (!values) return [`${verb} …`];
    const labels = state.labels()[axis === "query" ? "key" : "query"];
    const best = strongest(values.values, NAMED).flatMap(([place, value], i) => [
      i ? ", " : "",
      ...quoted(labels[place]),
      ` (${place}) ${values.sign}${value.toFixed(values.sign ? 3 : 5)}`,
    ]);
    return [`${verb} `, ...best];
  }

  function readOut() {
    const active = state.isolated ?? pinnedOf();
    read.classList.toggle("hs-muted", !active);
    if (!active) return setText(read, hintOf(nounOf(state.texts().query)));
    const { axis, index } = active;
    const { one } = state.texts();
    const on = heads();
    const rows = on.slice(0, NAMED).map((head) => {
      const goes = axis === "query" || one ? pairs(head, "query", index, "goes to") : [];
      const comes = axis === "key" || one ? pairs(head, "key", index, "comes from") : [];
      const first = axis === "query" ? goes : comes;
      const second = axis === "query" ? comes : goes;
      const more = second.length ? ["; ", ...second] : [];
      return element("div", "", {}, `${state.headName(head)}: `, ...first, ...more);
    });
    const label = state.labels()[axis][index];
    const rest = on.length > NAMED ? [`; the first ${NAMED} of the ${on.length} heads that are drawn:`] : [];
    setText(read, ...quoted(label), ` (${index})`, ...rest, ...rows);
  }

  function explain() {
    const on = heads();
    const names =
      on.length === 1 ? state.headName(on[0]) : `heads ${on.map(String).join(", ")}`;
    setText(title, [state.base.model, state.siteName(), names].join(" · "));
    const of = state.selection.scale === "own" ? "this map’s largest weight" : "1";
    const { query, key } = state.texts();
    const [asks, answers] = [nounOf(query), nounOf(key)];
    const writes = state.site().kind === "cross" && state.base.explains === "tokens";
    setText(
      sentence,
      `Each line is one weight, from a ${asks} to a ${answers} it attends to. Opacity ∝ √weight, full at` +
        ` ${of}; weights below a hundredth of that have no line.`,
      writes ? " A token attends while the model writes the one below it." : "",
    );
    setText(above.query, `query: the ${asks} that attends`);
    setText(above.key, `key: the ${answers} attended to`);
    setAttribute(left.box, "aria-label", `${capital(asks)}s that attend`);
    setAttribute(right.box, "aria-label", `${capital(answers)}s attended to`);
    const { note } = state.base;
    if (note) title.append(` — ${note}`);
  }

  /** @param {Theme} theme */
  function render(theme) {
    const { site, form, token, direction, scale } = state.selection;
    section.hidden = form !== "lines";
    if (section.hidden) return;
    const { query, key } = state.labels();
    const { fontSize } = getComputedStyle(section);
    const { rows, cols } = state.ranges();
    if (arranged(query, key, stage.clientWidth, innerHeight, fontSize, ...rows, ...cols)) {
      arrange();
      painted(null);
      const pinned = pinnedOf();
      if (pinned) (pinned.axis === "key" ? right : left).reveal(pinned.index);
    }
    const on = heads();
    switches.render(theme);
    state.setInSight(on, left.range(), right.range());
    const active = state.isolated ?? pinnedOf();
    const pinned = pinnedOf();
    /** @param {Axis} axis */
    const indexIn = (axis) => [active, pinned].map((each) => (each?.axis === axis ? each.index : null));
    /** @param {Axis} axis */
    const brushedIn = (axis) => (brushed?.axis === axis ? brushed.range : null);
    follow();
    const match = state.matched();
    if (jumped(match?.axis, match?.index) && match) {
      if (match.axis === "query") left.reveal(match.index);
      if (match.axis === "key" || state.texts().one) right.reveal(match.index);
    }
    const [activeLeft, pinnedLeft] = indexIn("query");
    const [activeRight, pinnedRight] = indexIn("key");
    left.render(activeLeft, pinnedLeft, state.matchPlaces("query"), brushedIn("query"));
    right.render(activeRight, pinnedRight, state.matchPlaces("key"), brushedIn("key"));
    const parts = on.flatMap((head) => state.parts(site, head));
    stage.classList.toggle("hs-dim", on.some((head) => !strands(head)));
    const place = [left.offset(), right.offset(), canvas.clientWidth, height, devicePixelRatio];
    const { least, top } = state.selection;
    const few = top ? on.map((head) => state.strongest(head, left.range())) : [];
    const what = [theme, state.trace, site, on.join(), scale, token, direction, least, top];
    const one = state.isolated && `${state.isolated.axis} ${state.isolated.index}`;
    if (painted(...what, ...place, one, parts.length, ...parts, ...few)) paint(theme);
    explain();
    readOut();
  }

  /** The lines in sight with their tokens, as a PNG file. */
  function save() {
    const theme = last;
    if (!theme) return;
    const [side, width, head] = [150 * unit, Math.max(200, canvas.clientWidth), 60 * unit];
    const file = element("canvas");
    [file.width, file.height] = [2 * (2 * side + width), 2 * (height + head + 16)];
    const context = contextOf(file);
    context.scale(2, 2);
    context.fillStyle = theme.background;
    context.fillRect(0, 0, file.width, file.height);
    context.fillStyle = theme.text;
    context.font = fontOf(unit, family, 15, 600);
    context.fillText(title.textContent ?? "", 12, 22 * unit);
    context.font = fontOf(unit, family, 12);
    context.fillText(above.query.textContent ?? "", 12, 46 * unit);
    context.textAlign = "right";
    context.fillText(above.key.textContent ?? "", 2 * side + width - 12, 46 * unit);
    context.translate(0, head);
    context.textBaseline = "middle";
    context.font = fontOf(unit, family, 13);
    for (const { side: which, labels, x } of [
      { side: left, labels: state.labels().query, x: side - 8 },
      { side: right, labels: state.labels().key, x: side + width + 8 },
    ]) {
      context.textAlign = which === left ? "right" : "left";
      const [first, end] = which.range();
      for (let i = first; i < end; i++) {
        const text = shortened(context, legible(labels[i]), side - 20);
        context.fillText(text, x, (i + 0.5) * row - which.offset());
      }
    }
    context.translate(side, 0);
    paintLines(context, width, theme);
    const { layer, kind } = state.site();
    savePng(file, `${state.base.model}-${kind}-layer-${layer}-heads-${heads().join("-")}-lines`);
  }

  /** @type {Theme | null} */
  let last = null;
  return {
    /** @param {Theme} theme */
    render(theme) {
      last = theme;
      render(theme);
    },
    save,
  };
}
