// Captions of a picture, for models that compare the two; and what the model is asked again about a word: whether it
// needs an area of the picture, and what speaks for it and for a rival.

import { areaOf, cellBeside, cellOf } from "../../web/core/grids.js";
import { useFrameSignal } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { isModified, stepOf } from "../../web/core/keys.js";
import { capital } from "../../web/core/labels.js";
import { Button, Entry } from "../../web/parts/controls.js";
import { useLayoutEffect, useRef } from "../../web/vendor/hooks.js";
import { differenceText, needText, readersText, useHeld } from "./words.js";

/** @import {Sides} from "../../web/core/grids.js" */
/** @import {TextState} from "../../web/text/state.js" */
/** @import {Caption} from "../../web/types" */
/** @import {Look, Sheet} from "./sheets.js" */

const ABOUT =
  "How similar the picture is to each caption, as the model scales it. Choose one to see its map.";

/** The captions, the most similar first, and the one that is chosen. @param {TextState} state */
export function useCaptions(state) {
  const { captions: texts, caption: chosen } = state.selection;
  const { answer, reason } = useHeld(state, "captions", state.base.captions && texts && { texts });
  const captions = (answer?.captions ?? []).toSorted((a, b) => b.similarity - a.similarity);
  return { captions, caption: captions.find(({ text }) => text === chosen) ?? null, reason };
}

/** @param {{state: TextState, captions: Caption[], reason: string}} props */
export function Captions({ state, captions, reason }) {
  const { captions: texts, caption: chosen, site } = state.selection;
  const { sites, texts: all } = state.base;
  const entry = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  useLayoutEffect(() => {
    if (entry.current && !entry.current.matches(":focus")) entry.current.value = texts.split("|").join("\n");
  });
  if (!state.base.captions || !(state.remote || captions.length)) return null;
  const commit = ({ currentTarget }) => {
    const lines = currentTarget.value.split("\n").map((line) => line.replaceAll("|", " ").trim());
    state.select({ captions: lines.filter(Boolean).join("|") });
  };
  const choose = (text) => {
    const isHere = state.texts().key.grids?.length;
    const there = sites.findIndex(({ key_text: key = 0 }) => all[key].grids?.length); // shows where patches are
    state.select({ caption: text === chosen ? "" : text, site: isHere || there < 0 ? site : there });
  };
  return html`
    <div class="hs-captions">
      ${
        state.remote &&
        html`<label class="hs-label">
        Captions to compare, one a line
        <textarea
          class="hs-select hs-captions-entry"
          rows="3"
          maxlength="500"
          placeholder=${"a photo of a dog\na photo of a cat"}
          ref=${entry}
          onChange=${commit}
        ></textarea>
      </label>`
      }
      <div class="hs-words" role="group" aria-label="Captions, the most similar first">
        ${captions.map(
          ({ text, similarity }) => html`
            <button type="button" class="hs-chip" dir="auto" aria-pressed=${text === chosen} onClick=${() => choose(text)}>
              <b class="hs-number">${similarity.toFixed(2).replace("-", "−")}</b>${` ${text}`}
            </button>
          `,
        )}
      </div>
      <p class="hs-even" aria-live="polite">${captions.length ? ABOUT : reason}</p>
    </div>
  `;
}

const PARTS = 1000; // of a side of a picture, in which an area is told
const HINT =
  "Drag over a picture to see which words looked at an area and to test whether this one needs it; click a patch for" +
  " that alone. Keys: arrows move, Shift + arrows extend, Enter tests.";
const BARE_HINT = "Drag over a picture to test whether this word needs an area, or hide all of it.";
const NOTHING = /** @type {const} */ ({ rival: "", relevant: "no" });

/** An area as the link holds it: the picture, and four sides in thousandths; null for none. @param {string} text */
export function areaFrom(text) {
  const [picture, ...sides] = text.split(".").map(Number);
  if (sides.length !== 4) return null;
  return {
    picture,
    sides: sides.map((side) => side / PARTS),
    isWhole: sides.join() === `0,0,${PARTS},${PARTS}`,
  };
}

/** @typedef {ReturnType<typeof useQuestions>} Questions */

/**
 * @param {TextState} state
 * @param {Look} look
 * @param {boolean} isUnplaced whether image tokens have no places on the picture
 */
export function useQuestions(state, look, isUnplaced) {
  const { base } = state;
  const { site, head, rival, relevant } = state.selection;
  const isTested = useFrameSignal(state, true); // whether the area is
  const corners = useFrameSignal(state, /** @type {{from: number, to: number} | null} */ (null));
  const drawn = useFrameSignal(state, /** @type {{picture: number, sides: Sides} | null} */ (null));
  const { span } = look;
  const area = areaFrom(state.selection.area);
  const frame = look.film.length ? look.film[look.moment].frames[0] : undefined;
  const there = area && { area: state.selection.area, frame };
  const asksVersus = rival || relevant === "yes";
  const versus = useHeld(
    state,
    "versus",
    span && asksVersus && { row: span.first, rival: rival || undefined },
  );
  const need = useHeld(state, "need", span && !asksVersus && isTested.value && area && { ...there, ...span });
  const readers = useHeld(state, "readers", area && look.grids.length > 0 && { site, head, ...there });

  /** Shows one thing in place of the weights, or none. */
  const show = (change, isNow = true) => {
    isTested.value = isNow;
    state.select({ ...NOTHING, ...change });
  };
  const setArea = (picture, sides, isNow = true) => {
    drawn.value = null;
    show({ area: [picture, ...sides.map((side) => Math.round(PARTS * side))].join(".") }, isNow);
  };
  return {
    isOffered: Boolean(base.asked) && state.remote,
    isUnplaced,
    area,
    drawn: drawn.value ?? area,
    versus: versus.answer,
    need: need.answer,
    readers,
    reason: versus.reason || need.reason,
    show,
    /** @param {Sheet} sheet @param {Sides} sides @param {boolean} isDone */
    draw(sheet, sides, isDone) {
      corners.value = null;
      if (isDone) setArea(sheet.picture, sides);
      else drawn.value = { picture: sheet.picture, sides };
    },
    /** Moves a corner of the area by a key, from the first patch on; Enter tests it. */
    extend({ grids, picture }, event) {
      const step = stepOf(event);
      if (event.key === "Enter" && !isModified(event) && state.selection.area) isTested.value = true;
      else if (step && grids.length) {
        const known =
          area?.picture === picture && corners.value && cellOf(grids, corners.value.to)
            ? corners.value
            : null;
        const to = known
          ? cellBeside(grids, known.to, step)
          : (grids[0].places.find((place) => place >= 0) ?? -1);
        const next = { from: known && event.shiftKey ? known.from : to, to };
        const sides = areaOf(grids, next.from, to);
        if (sides) {
          setArea(picture, sides, false);
          corners.value = next;
        }
      } else return;
      event.preventDefault();
    },
  };
}

/**
 * The controls, and what the answers say.
 *
 * @param {{state: TextState, look: Look, questions: Questions, colours: Uint8Array, shares: number[] | null, otherwise: string}} props
 *   shares: of each word on the area; otherwise: what is said where nothing was asked
 */
export function Questions({ state, look, questions, colours, shares, otherwise }) {
  const { readers } = questions;
  return html`
    ${look.word && html`<${Tools} ...${{ state, questions }} />`}
    ${
      (readers.answer || readers.isRefused) &&
      html`<p class="hs-even hs-looked" aria-live="polite">
      ${readers.answer ? readersText(look.words, shares ?? [], readers.answer.patches) : readers.reason}
    </p>`
    }
    <p class="hs-read" aria-live="polite"><${Said} ...${{ look, questions, colours, otherwise }} /></p>
  `;
}

function Tools({ state, questions: { isOffered, isUnplaced, area, versus, show } }) {
  const { rival, relevant } = state.selection;
  const isAsked = area || rival || relevant === "yes";
  const clear =
    (isOffered ? isAsked : versus) &&
    html`<${Button} text="✕" title="Show the weights again" onClick=${() => show({ area: "" })} />`;
  if (!isOffered) return html`<div class="hs-row">${clear}</div>`;
  return html`
    <div class="hs-row">
      <${Button}
        text="Whole picture"
        title="Let the model read again without the whole picture"
        aria-pressed=${area?.isWhole ?? false}
        onClick=${() => show({ area: [area?.picture ?? 0, 0, 0, PARTS, PARTS].join(".") })}
      />
      ${
        !isUnplaced &&
        html`
        <${Entry} ...${RIVAL} value=${rival} onCommit=${(next) => next !== rival && show({ rival: next })} />
        <${Button}
          title="What speaks for this word over all heads and layers: weights times gradient of its logit"
          aria-pressed=${relevant === "yes"}
          onClick=${() => show({ relevant: relevant === "yes" ? "no" : "yes" })}
        >
          Relevance
        <//>
      `
      }
      ${clear}
    </div>
  `;
}

const RIVAL = {
  class: "hs-select hs-rival",
  placeholder: "Why not … ?",
  "aria-label": "A rival word",
  maxlength: "40",
};

function Said({ look, questions, colours, otherwise }) {
  const { versus, need, isOffered, isUnplaced, reason, area } = questions;
  const word = look.word?.text ?? "";
  const how = "(weights times gradient, all heads and layers)";
  if (versus?.rival)
    return html`
      ${`${differenceText(versus)}: what speaks for “${versus.word}” in `}<${Colour} ...${{ colours, at: 255 }} />
      ${`, for “${versus.rival}” in `}<${Colour} ...${{ colours, at: 0 }} />${` ${how}.`}
    `;
  if (versus)
    return html`
      ${`What raises the logit of “${versus.word}”, ${versus.difference.toFixed(2)}, in `}
      <${Colour} ...${{ colours, at: 255 }} />; what lowers it in ${" "}<${Colour} ...${{ colours, at: 0 }} />
      ${` ${how}. It tells what a small change would do.`}
    `;
  if (need) return needText(word, need, area?.isWhole);
  if (reason) return capital(reason);
  return look.word && isOffered ? (isUnplaced ? BARE_HINT : HINT) : otherwise;
}

/** A colour of a scale, beside the words for it. */
function Colour({ colours, at }) {
  const background = `rgb(${colours.slice(3 * at, 3 * at + 3).join(" ")})`;
  return html`<span class="hs-sampled">${at ? "this" : "that"} colour <i class="hs-sample" aria-hidden="true" style=${{ background }}></i></span>`;
}
