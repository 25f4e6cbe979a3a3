// Pictures that tokens lie on: where a word of an answer, an object or a patch looked, which heads look,
// and whether the word needs what lies there. Other panels show the same words, heads and tokens.

import { markPainted } from "../../web/core/dom.js";
import { useAnswer, useFrameSignal, useSpace } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { capital, placeIn } from "../../web/core/labels.js";
import { pathOf } from "../../web/core/sources.js";
import { probability } from "../../web/core/ticks.js";
import { fadeOf } from "../../web/painting/pixels.js";
import { Chips, Quoted } from "../../web/parts/controls.js";
import { useMeanRow } from "../../web/text/weights.js";
import { useLayoutEffect, useMemo, useRef } from "../../web/vendor/hooks.js";
import { Captions, Questions, useCaptions, useQuestions } from "./questions.js";
import { framesOf, lookOf, sheetsOf, valuesOn } from "./sheets.js";
import { Picture } from "./picture.js";
import { momentText, Shares, useHeld } from "./words.js";

/** @import {AnswerWords, Theme} from "../../web/types" */
/** @import {TextState} from "../../web/text/state.js" */

const DOUBT =
  "Attended is not needed: a weight says where a head reads, after layers that have mixed the patches.";
const TEST = " Drag over an area to let the model read again without it.";
const SAMPLES =
  " Dots are the points that the query samples in this block, by weight: a softmax over these points, not over positions.";
const OF_CAPTION =
  " (Chefer et al. 2021, over the vision tower). Brighter = more relevance. It says what raises the similarity to" +
  " this caption, not what tells two captions apart.";

/** @param {{state: TextState, theme: Theme}} props */
export function Pictures({ state, theme }) {
  const { pictures, asked, texts } = state.base;
  const path = pictures && !asked ? "objects" : null;
  const { answer: objects, ...detected } = useAnswer(state, "objects", path);
  const written = useAnswer(state, "answer", pictures ? "answer" : null);
  const isKnown = objects || detected.isRefused;
  const hasPlaces = objects?.objects?.length || texts.some((text) => text.grids?.length);
  if (!pictures || !(asked || (isKnown && hasPlaces))) return null;
  const answer = /** @type {AnswerWords} */ (written.answer ?? {});
  const refusal = written.isRefused && asked ? written.reason : "";
  return html`<${Panel} ...${{ state, theme, objects, answer, refusal, otherwise: objects ? "" : detected.reason }} />`;
}

function Panel({ state, theme, objects, answer, refusal, otherwise }) {
  const { base } = state;
  const { site, head, token, direction, sinks } = state.selection;
  const section = useRef(/** @type {HTMLElement | null} */ (null));
  const middle = useRef(/** @type {HTMLElement | null} */ (null));
  const space = useSpace(middle);
  const pointed = useFrameSignal(state, /** @type {number | null} query under the pointer */ (null));
  const look = lookOf(state, objects, answer, pointed.value);
  const { grids, span, words, film, moment } = look;
  const isUnplaced = Boolean(answer.unplaced);
  const questions = useQuestions(state, look, isUnplaced);
  const { captions, caption, reason } = useCaptions(state);
  const { answer: shares } = useHeld(state, "shares", span && { site, ...span });
  const sampling =
    look.object >= 0 && look.samples && state.remote ? { site, head, query: look.object } : null;
  const points = useAnswer(state, "points", sampling && pathOf("points", sampling));
  const looked = useMeanRow(state, look.rows, "looked");
  const isOnto = direction === "in" && token !== null && look.asking.length > 0 && state.texts().one;
  const column = isOnto ? state.exactRow("key", token) : null;

  const { versus, readers } = questions;
  const instead = versus ?? (caption && { maps: [caption.relevance] });
  const row = column ?? looked;
  const left = sinks !== "shown" && shares?.at;
  const maps = useMemo(() => {
    const hidden = left ? new Set(left.map((each) => placeIn(state.texts().key, each))) : undefined;
    return new Map(
      grids.map((grid, i) => [
        grid,
        instead
          ? Float32Array.from((instead.maps[i] ?? []).flat(), Number)
          : row && valuesOn(grid, row, hidden),
      ]),
    );
  }, [grids, row, versus, caption?.relevance, left]);
  const at = versus ? base.theme.dark.diverging : base.theme.dark.sequential; // weights shine in both modes
  const scale = useMemo(() => {
    const colours = state.overview.slice(at, at + 768);
    const numbers = [...maps.values()].flatMap((map) => (map ? [...map] : []));
    const top = Math.max(1e-12, ...numbers.map(Math.abs));
    return {
      ramp: colours,
      top,
      isSigned: Boolean(versus),
      opacity: instead || versus ? 1 : fadeOf(numbers),
    };
  }, [maps, at]);
  const sheets = useMemo(() => sheetsIn(base, grids, film, moment), [base, grids, moment]);
  const photos = sheets.map(({ photo }) => state.photo(photo));
  useLayoutEffect(() => {
    if (section.current && photos.some(Boolean)) markPainted(section.current);
  }, [...photos.slice(0, 1), maps, scale, theme]);

  const says = saysOf(state, look, { objects, answer, refusal, versus, caption });
  const text = useRef(/** @type {HTMLElement | null} */ (null));
  const onWords = sharesOfWords(state, look, readers.answer);
  const about = text.current?.textContent ?? "";
  return html`
    <section class="hs-section hs-pictures" ref=${section}>
      <${Captions} ...${{ state, captions, reason }} />
      ${
        look.objects.length > 0 &&
        html`<${Chips}
        label="Objects"
        chips=${look.among.map((i) => ({ text: html`<bdi>${look.objects[i].name}</bdi> ${probability(look.objects[i].score)}`, title: `object query ${i}` }))}
        chosen=${look.among.indexOf(look.object)}
        onChoose=${(place) => look.pickObject(look.among[place])}
      />`
      }
      <div class="hs-pictures-lead">
      ${
        words.length > 0 &&
        html`<${Chips}
        label="Words of the answer"
        chips=${words.map((word, i) => chipOf(look, word, i, onWords))}
        chosen=${look.at}
        onChoose=${look.pickWord}
      />`
      }
      <p class="hs-sentence" aria-live="polite" ref=${text}>${says}</p>
      </div>
      ${film.length > 1 && html`<${Moments} ...${{ state, film, moment, row }} />`}
      <div class="hs-pictures-middle" ref=${middle}>
        <div class="hs-pictures-sheets">
          ${sheets.map(
            (sheet, i) => html`
              <${Picture}
                key=${`${state.trace} ${sheet.photo} ${sheet.name}`}
                ...${{ state, look, questions, sheet, maps, scale, space, row, about, count: sheets.length }}
                photo=${photos[i]}
                points=${points.answer}
                onPoint=${(query) => (pointed.value = query)}
              />
            `,
          )}
        </div>
        ${span && html`<${Shares} ...${{ state, look, shares }} />`}
      </div>
      <${Questions}
        ...${{ state, look, questions, colours: scale.ramp, shares: onWords }}
        otherwise=${points.reason || otherwise}
      />
      <p class="hs-doubt">${questions.isOffered ? DOUBT + TEST : DOUBT}</p>
    </section>
  `;
}

/** The pictures of the present grids: of a video the frames that share tokens. */
function sheetsIn({ pictures = 0 }, grids, film, moment) {
  const placed = film.length ? framesOf(film[moment], pictures) : sheetsOf(grids);
  if (placed.length) return placed;
  return Array.from({ length: pictures }, (_, picture) => ({
    picture,
    name: "",
    grids: [],
    frames: [],
    photo: picture,
  }));
}

/** Of each word how much it looked at the area, or at the chosen patch; null for neither. */
function sharesOfWords(state, look, readers) {
  const { token, direction } = state.selection;
  const weights =
    readers?.weights ?? (direction === "in" && token !== null ? state.exactRow("key", token) : null);
  if (!weights) return null;
  const indexOf = (row) => (readers ? row - readers.first : look.placeOf(row));
  return look.words.map(({ rows }) => {
    const places = rows.map(indexOf).filter((row) => row >= 0);
    return places.reduce((sum, row) => sum + weights[row], 0) / (places.length || 1);
  });
}

function chipOf(look, { text, special }, i, shares) {
  const about = shares && {
    title: `weight ${shares[i].toFixed(4)}`,
    share: shares[i] / Math.max(1e-9, ...shares),
  };
  return { text, kind: special ? "hs-special" : "", disabled: !look.hasWord(i), ...about };
}

function Moments({ state, film, moment, row }) {
  return html`
    <div class="hs-row hs-moments">
      <span class="hs-label">Frames</span>
      <input
        class="hs-threshold hs-moment"
        type="range"
        min="0"
        max=${film.length - 1}
        step="1"
        value=${moment}
        aria-label="Frames"
        aria-valuetext=${film[moment].name}
        onInput=${({ currentTarget }) => state.select({ moment: Number(currentTarget.value) })}
      />
      <span class="hs-number" aria-live="polite">${momentText(film, moment, row)}</span>
    </div>
  `;
}

/** What is seen, as a sentence. */
function saysOf(state, look, { objects, answer, refusal, versus, caption }) {
  if (refusal) return capital(refusal);
  if (caption) return html`${"Which patches speak for "}<${Quoted} label=${caption.text} />${OF_CAPTION}`;
  if (versus) {
    const rival = html`${" and what for "}<${Quoted} label=${versus.rival} />.`;
    return html`
      ${"All heads and layers together: what speaks for "}<${Quoted} label=${versus.word} />
      ${versus.rival ? rival : " and what against it."}
    `;
  }
  const { grids, word, asking } = look;
  const { token, direction } = state.selection;
  const where = capital(`${state.siteName().replace(" · ", ", ")}, ${state.headName()}`);
  const object = look.objects[look.object];
  if (object) {
    const verb = grids.length ? "where" : "at which objects";
    const what = grids.length
      ? "Brighter = more weight."
      : `The number beside a box is its weight.${look.samples ? SAMPLES : ""}`;
    return html`${`${where}: ${verb} the query that says `}<${Quoted} label=${object.name} />${` looks. ${what}`}`;
  }
  if (answer.unplaced && !grids.length) {
    const next = word
      ? "The matrix has the weights of this word on all tokens."
      : "Choose a word to test whether it needs the picture.";
    return `No map can be drawn on the picture: ${answer.unplaced}. ${next}`;
  }
  const isAnswer = state.base.asked || look.words.length;
  if (!grids.length) {
    const next = isAnswer
      ? "choose a word to see where it looked"
      : objects?.objects?.length
        ? "choose a box"
        : "write captions above, or choose a layer of the vision tower";
    return `${where} attends to no picture: ${next}.`;
  }
  const isIn = direction === "in" && token !== null;
  const looking = isIn ? null : look.framed >= 0 ? look.framed : token;
  if (!isIn && looking === null) {
    if (isAnswer) return `${where}: choose a word to see where this head looked while the model wrote it.`;
    return `${where}: choose ${look.objects.length ? "a box" : asking.length ? "a patch" : "a token"} to see where it looks.`;
  }
  if (isIn)
    return html`${`${where}: ${isAnswer ? "which words looked at" : "what looks at"} `}<${Quoted} label=${state.labels().key[token]} />.`;
  if (word)
    return html`${`${where}: where this head looked while the model wrote `}<${Quoted} label=${word.text} />. Brighter = more weight.`;
  return html`${`${where}: where `}<${Quoted} label=${state.labels().query[looking ?? 0]} />${" looks. Brighter = more weight."}`;
}
