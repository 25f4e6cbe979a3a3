// A recording over its time: spectrogram, the chosen token's weight, and the words of the transcript. Choosing a word
// chooses the row of the decoder that writes it.

import { contextOf, markPainted } from "../../web/core/dom.js";
import { useAnswer } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { capital, placeIn } from "../../web/core/labels.js";
import { Button, Chips, Quoted } from "../../web/parts/controls.js";
import { useMeanRow } from "../../web/text/weights.js";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../web/vendor/hooks.js";
import { groundOf, lanesOf, paint, secondAt, TALL, timeAxis, weightWithin, wordAt } from "./paint.js";
import { useWords } from "./times_from.js";

const LANE = 34; // CSS pixels of a row of words
const MOST_ROWS = 8; // of a word, whose weights are fetched
const DOUBT = "A large weight says where a head reads, after layers that have mixed the sound already.";

/** @param {{state: import("../../web/text/state.js").TextState, theme: import("../../web/types").Theme}} props */
export const Sound = ({ state, theme }) =>
  state.base.sound
    ? html`<${Recording} key=${state.trace} ...${{ state, theme, length: state.base.sound }} />`
    : html`<p class="hs-sentence">No recording was read here: choose another form.</p>`;

function Recording({ state, theme, length }) {
  const { remote } = state;
  const reply = useWords(state);
  const words = reply.newest?.words ?? [];
  const [failure, setFailure] = useState("");
  const [pointed, setPointed] = useState(-1);
  const chosen = wordOf(state, words);
  const player = usePlayer(state, setFailure);
  const scroller = useRef(/** @type {HTMLElement | null} */ (null));
  const [room, setRoom] = useState(0);
  useLayoutEffect(() => setRoom(scroller.current?.clientWidth ?? 0));
  const axis = useMemo(() => timeAxis(length, room), [length, room]);
  const rows = rowsOf(state, words);
  const row = useMeanRow(state, rows, "heard");
  const choose = (index) => chooseWord(state, words[index]);
  const sentence = sentenceOf(state, words[chosen]);
  const word = words[pointed] ?? words[chosen];
  const isRefused = reply.isRefused && state.texts().key.timed !== state.texts().query.timed;
  const note =
    failure ||
    (isRefused ? reply.reason : "") ||
    (words.length ? "Point at a word to see when it is spoken." : "");
  const span = word ?? momentOf(state, length);
  return html`
      <div class="hs-row">
        ${
          remote &&
          html`<${Button}
            text=${player.isPlaying ? "■ Stop" : "▶ Play"}
            title=${player.isPlaying ? "Stop" : "Play from the chosen word, or from the start"}
            onClick=${() => player.toggle(words[chosen]?.start ?? 0)}
          />`
        }
        <p class="hs-sentence" aria-live="polite">${sentence}</p>
      </div>
      <div class="hs-sound-scroller" role="group" aria-label="Recording" ref=${scroller}>
        <div class="hs-sound-time">
          <${Picture} ...${{ state, theme, row, axis, words, onPoint: setPointed, onChoose: choose }} />
          ${span && html`<${Band} ...${{ axis, span }} />`}
          ${player.isPlaying && html`<${Playhead} ...${{ player, axis, words, onWord: setPointed }} />`}
          ${words.length > 0 && html`<${Words} ...${{ words, axis, chosen, pointed, onPoint: setPointed, onChoose: choose }} />`}
        </div>
      </div>
      <p class="hs-read" aria-live="polite">
        ${word && !isRefused && !failure ? html`<${Spoken} ...${{ word, row: word === words[chosen] ? row : null, length }} />` : note}
      </p>
      ${words.length > 0 && html`<p class="hs-doubt">${DOUBT}</p>`}
  `;
}

async function fetched({ client }, path) {
  if (!client) throw new Error("The recording is not here yet.");
  const { signal } = new AbortController();
  return /** @type {any} */ (client.source.get(path, { signal, priority: "high" }));
}

/** The sound itself, fetched when it is first played. */
function usePlayer(state, onFail) {
  const audio = useRef(/** @type {HTMLAudioElement | null} */ (null));
  const [isPlaying, setPlaying] = useState(false);
  useEffect(
    () => () => {
      audio.current?.pause();
      if (audio.current) URL.revokeObjectURL(audio.current.src);
    },
    [],
  );
  async function toggle(from) {
    if (isPlaying) return audio.current?.pause();
    try {
      if (!audio.current) {
        const file = new Blob([await fetched(state, "recording")], { type: "audio/wav" });
        audio.current = new Audio(URL.createObjectURL(file));
        audio.current.onplay = () => setPlaying(true);
        audio.current.onpause = audio.current.onended = () => setPlaying(false);
      }
      audio.current.currentTime = from;
      await audio.current.play();
    } catch (error) {
      onFail(`It cannot be played: ${/** @type {Error} */ (error).message}`);
    }
  }
  return { isPlaying, toggle, secondOf: () => audio.current?.currentTime ?? 0 };
}

/** A line at the moment that is heard. */
function Playhead({ player, axis, words, onWord }) {
  const [second, setSecond] = useState(0);
  useEffect(() => {
    let frame = requestAnimationFrame(function follow() {
      setSecond(player.secondOf());
      onWord(wordAt(words, player.secondOf()));
      frame = requestAnimationFrame(follow);
    });
    return () => cancelAnimationFrame(frame);
  }, [words]);
  const style = { transform: `translateX(${second * axis.scale}px)` };
  return html`<i class="hs-sound-head" aria-hidden="true" style=${style} />`;
}

function Band({ axis: { scale }, span: { start, end } }) {
  const style = {
    transform: `translateX(${start * scale}px)`,
    width: `${Math.max(2, (end - start) * scale)}px`,
  };
  return html`<i class="hs-sound-band" aria-hidden="true" style=${style} />`;
}

function Picture({ state, theme, row, axis, words, onPoint, onChoose }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const { answer: spectrogram } = useAnswer(state, "spectrogram", "spectrogram");
  const ground = useMemo(() => spectrogram && groundOf(spectrogram, theme), [spectrogram, theme]);
  const ratio = devicePixelRatio || 1;
  useLayoutEffect(() => {
    if (!canvas.current) return;
    Object.assign(canvas.current, { width: Math.round(axis.wide * ratio), height: Math.round(TALL * ratio) });
    const context = contextOf(canvas.current);
    context.scale(ratio, ratio);
    paint(context, { ground, row, axis, theme, family: getComputedStyle(canvas.current).fontFamily });
    markPainted(canvas.current);
  }, [ground, row, axis, theme, ratio]);
  const { query } = state.texts();
  const wordUnder = ({ offsetX }) => {
    const second = secondAt(axis, offsetX);
    return second === null || query.timed ? -1 : wordAt(words, second);
  };
  const click = (event) => {
    const second = secondAt(axis, event.offsetX);
    if (second !== null && query.timed)
      state.select({ token: Math.floor((second / axis.seconds) * query.labels.length), direction: "out" });
    else if (wordUnder(event) >= 0) onChoose(wordUnder(event));
  };
  return html`
    <canvas
      class="hs-sound-canvas"
      role="img"
      aria-label=${`Spectrogram with weights over ${axis.heard.toFixed(1)} seconds`}
      style=${{ width: `${axis.wide}px`, height: `${TALL}px` }}
      ref=${canvas}
      onPointerMove=${(event) => onPoint(wordUnder(event))}
      onPointerLeave=${() => onPoint(-1)}
      onClick=${click}
    />
  `;
}

/** The words of the transcript below their times, in as many rows as they need. */
function Words({ words, axis, chosen, pointed, onPoint, onChoose }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const chipsIn = () => /** @type {HTMLElement[]} */ ([...(box.current?.firstElementChild?.children ?? [])]);
  useLayoutEffect(() => {
    const chips = chipsIn();
    const widths = chips.map((chip) => chip.offsetWidth);
    const lanes = lanesOf(words, widths, axis.scale);
    chips.forEach((chip, i) => {
      chip.style.transform = `translate(${words[i].start * axis.scale}px, ${lanes[i] * LANE}px)`;
    });
    if (box.current) box.current.style.height = `${LANE * (Math.max(-1, ...lanes) + 1)}px`;
  }, [words, axis.scale]);
  const point = ({ target }) => onPoint(chipsIn().indexOf(target));
  const leave = () => onPoint(-1);
  const chips = words.map(({ text }, i) => ({
    text,
    kind: `hs-sound-word ${i === pointed ? "hs-over" : ""}`,
  }));
  const on = { onPointerOver: point, onFocusIn: point, onPointerLeave: leave, onFocusOut: leave };
  return html`
    <div class="hs-sound-words" ref=${box} ...${on}>
      <${Chips} label="Words of the transcript" ...${{ chips, chosen, onChoose }} />
    </div>
  `;
}

function Spoken({ word: { text, start, end }, row, length }) {
  const share = row && Math.round(100 * weightWithin(row, length.seconds, start, end));
  return html`
    <${Quoted} label=${text} />${` ${start.toFixed(2)}–${end.toFixed(2)} s`}
    ${share !== null && ` · ${share}\u00a0% of this head’s weight lies within the word`}
  `;
}

function sentenceOf(state, word) {
  const where = capital(`${state.siteName().replace(" · ", ", ")}, ${state.headName()}`);
  const { key, query } = state.texts();
  const { token } = state.selection;
  if (!key.timed)
    return `${where} attends to words, not to the recording: choose a word here to see where it listens.`;
  if (token === null)
    return `${where}: choose a word to see where this head listens while the model writes it.`;
  if (word)
    return html`${where}: where this head listens while the model writes <${Quoted} label=${word.text} />.`;
  if (query.timed)
    return `${where}: which moments ${query.labels[token]} attends to. Click the recording to choose another.`;
  return html`${where}: where <${Quoted} label=${query.labels[token]} /> listens.`;
}

/** The tokens of the chosen row that attend; [] where moments or none do. */
function tokensOf({ selection: { token, direction } }, query) {
  return token === null || direction === "in" || query.timed ? [] : (query.origins?.[token] ?? [token]);
}

/** The word of the chosen token; −1 for none. */
function wordOf(state, words) {
  const tokens = tokensOf(state, state.texts().query);
  return words.findIndex(({ rows }) => tokens.some((token) => rows.includes(token)));
}

/** The rows of weights over time that belong to the chosen token, as the view counts them. */
function rowsOf(state, words) {
  const { token, direction } = state.selection;
  const { query, key } = state.texts();
  if (!key.timed || token === null || direction === "in") return [];
  const word = words[wordOf(state, words)];
  if (!word) return [token];
  const places = word.rows.map((row) => placeIn(query, row)).filter((place) => place >= 0);
  return [...new Set(places)].slice(0, MOST_ROWS);
}

/** The seconds of the chosen moment, where moments attend; null if none is, or it is folded away. */
function momentOf(state, length) {
  const { token, direction } = state.selection;
  const { labels, timed } = state.texts()[direction === "in" ? "key" : "query"];
  const step = length.seconds / labels.length;
  if (token === null || !timed || token * step >= length.heard) return null;
  return { start: token * step, end: (token + 1) * step };
}

/** Chooses the row that writes a word, in a layer that attends to the recording. */
function chooseWord(state, { rows }) {
  const { sites, texts } = state.base;
  const crosses = ({ query_text: query = 0, key_text: key = 0 }) =>
    Boolean(texts[key].timed && !texts[query].timed);
  const { site: here } = state.selection;
  const site = crosses(sites[here]) ? here : sites.findIndex(crosses);
  if (site < 0) return;
  state.select({ site, token: placeIn(texts[sites[site].query_text ?? 0], rows[0]), direction: "out" });
}
