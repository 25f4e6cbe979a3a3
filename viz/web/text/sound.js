// A recording over its time: spectrogram, the chosen token's weight, and the words of the transcript.
// Choosing a word chooses the row of the decoder that writes it.

import { button, menu } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { parse } from "../core/colours.js";
import { contextOf, element, markPainted, offer, quoted, setAttribute, setText } from "../core/dom.js";
import { capital } from "../core/labels.js";
import { pathOf } from "../core/sources.js";
import { ticksOf } from "../core/ticks.js";
import { aligning } from "./aligning.js";
import { meanRow } from "./mean_row.js";
import { FOLD, lanesOf, secondAt, shareAfter, timeAxis, wordAt, wordOf } from "./time_axis.js";

/** @import {Heard, Spectrogram, Spoken, SpokenWord, Theme} from "../types" */
/** @import {TimeAxis} from "./time_axis.js" */
/** @import {TextState} from "./state.js" */

const TALL = { image: 104, curve: 60, axis: 20 }; // CSS pixels
const LANE = 34; // of a row of words
const TICK = 70; // CSS pixels between ticks, about
const MOST_ROWS = 8; // of a word, whose weights are fetched
const DOUBT = "A large weight says where a head reads, after layers that have mixed the sound already.";
/** What times are made from: the entry of a menu, and a sentence. */
const METHODS = {
  named: ["Checkpoint’s heads", "Times are those of the cheapest monotone path through the heads that the checkpoint names."],
  found: ["Heads that follow time", "Times are those of the cheapest monotone path through the heads that follow time best."],
  characters: [
    "Characters",
    "The transcript is read as single characters; times are those of the path through the heads of the largest norms (Yeh et al. 2025).",
  ],
};
const NAMES = /** @type {const} */ ({ json: "JSON", srt: "SRT", textgrid: "TextGrid" });

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function sound(state, parent) {
  const play = button("▶ Play", "Play from the chosen word, or from the start", () => void turn());
  const unfold = button("Padding", "Show the silence that the model’s input is filled up with", () => {
    state.padding = !state.padding;
    state.wish();
    state.changed();
  });
  const files = element("span", "hs-row hs-sound-files");
  const timing = element("label", "hs-label hs-sound-timing", {}, "Times from ");
  const says = element("p", "hs-sentence", { "aria-live": "polite" });
  const canvas = element("canvas", "hs-sound-canvas", { role: "img" });
  const band = element("i", "hs-sound-band", { "aria-hidden": "true" });
  const moment = element("i", "hs-sound-head", { "aria-hidden": "true", hidden: "" });
  const list = element("div", "hs-sound-words", { role: "radiogroup", "aria-label": "Words of the transcript" });
  const time = element("div", "hs-sound-time", {}, canvas, band, moment, list);
  const scroller = element("div", "hs-sound-scroller", { role: "group", "aria-label": "Recording" }, time);
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const doubt = element("p", "hs-doubt", {}, DOUBT);
  const top = element("div", "hs-row", {}, element("h3", "hs-heading", {}, "Sound"), play, unfold, element("span", "hs-spring"), timing, files);
  const section = element("section", "hs-section hs-sound", {}, top, says, scroller, read, doubt);
  parent.append(section);
  const heads = aligning(state, section);
  for (const [format, name] of Object.entries(NAMES))
    files.append(button(name, `Times of the words as ${name}`, () => void save(format)));
  /** @type {SpokenWord[]} */
  let words = [];
  /** @type {HTMLElement[]} */
  let chips = [];
  /** @type {number | null} the word under the pointer */
  let over = null;
  /** @type {TimeAxis | null} */
  let axis = null;
  /** @type {HTMLAudioElement | null} */
  let player = null;
  let frame = 0;
  const listed = changes();
  const offered = changes();
  const drawn = changes();
  const grounded = changes();
  const ground = document.createElement("canvas"); // the spectrogram, a pixel a cell

  const length = () => /** @type {Heard} */ (state.base.sound);

  /** What times are made from, as requests say it. */
  const timedBy = () => (state.view.remote && state.selection.timing ? { method: state.selection.timing } : {});

  /** Offers what times can be made from. */
  function offerMethods(methods) {
    const names = methods.map((name) => METHODS[name][0]);
    const select = menu("Times from", "What the times of words are made from", names, (i) => state.select({ timing: methods[i] }));
    timing.replaceChildren("Times from ", select);
  }

  /** The rows of weights over time that belong to the chosen token, as the view counts them. */
  function rows() {
    const { token, direction } = state.selection;
    const { query, key } = state.texts();
    if (!key.timed || token === null || direction === "in") return [];
    const { origins } = query;
    if (query.timed) return [token];
    const tokens = origins?.[token] ?? [token];
    const at = words.findIndex(({ rows: written }) => tokens.some((row) => written.includes(row)));
    if (at < 0) return [token];
    const places = words[at].rows.map((row) => placeOf(row)).filter((place) => place >= 0);
    return [...new Set(places)].slice(0, MOST_ROWS);
  }

  /** The query of the view that holds a row of the decoder. */
  function placeOf(row) {
    const { origins, labels } = state.texts().query;
    if (!origins) return row < labels.length ? row : -1;
    return origins.findIndex((group) => group.includes(row));
  }

  /** The weights of the chosen word, once all of its rows are here. */
  const weights = () => meanRow(state, rows(), "heard", MOST_ROWS);

  /** The word of the chosen token. */
  function chosen() {
    const { token, direction } = state.selection;
    const { query } = state.texts();
    if (token === null || direction === "in" || query.timed) return -1;
    const tokens = query.origins?.[token] ?? [token];
    return tokens.reduce((first, row) => (first < 0 ? wordOf(words, row) : first), -1);
  }

  function choose(index) {
    const { sites } = state.base;
    const crossing = (/** @type {number} */ site) => {
      const { query_text: query = 0, key_text: key = 0 } = sites[site];
      return Boolean(state.base.texts[key].timed && !state.base.texts[query].timed);
    };
    const site = crossing(state.selection.site) ? state.selection.site : sites.findIndex((_, i) => crossing(i));
    if (site < 0) return;
    const { origins } = state.base.texts[sites[site].query_text ?? 0];
    const [row] = words[index].rows;
    const token = origins ? origins.findIndex((group) => group.includes(row)) : row;
    state.select({ site, token, direction: "out" });
  }

  async function save(format) {
    const { signal } = new AbortController();
    try {
      const bytes = await state.view.client?.source.get(pathOf("times", { format, ...timedBy() }), { signal, priority: "high" });
      if (!bytes) return;
      const kind = format === "json" ? "application/json" : "text/plain";
      const suffix = format === "textgrid" ? ".TextGrid" : `.${format}`;
      offer(new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (bytes)], { type: kind }), `${state.base.model}-words`, suffix);
    } catch (error) {
      setText(read, /** @type {Error} */ (error).message);
    }
  }

  /** Plays from the chosen word, or stops. */
  async function turn() {
    if (player && !player.paused) return player.pause();
    const { trace } = state;
    try {
      if (!player || player.dataset.trace !== trace) {
        const { signal } = new AbortController();
        const bytes = await state.view.client?.source.get("recording", { signal, priority: "high" });
        if (!bytes) return;
        if (player) URL.revokeObjectURL(player.src);
        const file = new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (bytes)], { type: "audio/wav" });
        player = new Audio(URL.createObjectURL(file));
        player.dataset.trace = trace;
        player.onpause = player.onended = player.onplay = () => state.changed();
      }
      const at = chosen();
      player.currentTime = at < 0 ? 0 : words[at].start;
      await player.play();
      follow();
    } catch (error) {
      setText(read, `It cannot be played: ${/** @type {Error} */ (error).message}`);
    }
  }

  /** Moves the line of the moment that is heard. */
  function follow() {
    cancelAnimationFrame(frame);
    const heard = player && !player.paused ? player.currentTime : null;
    moment.hidden = heard === null || !axis;
    if (heard === null || !axis) return;
    moment.style.transform = `translateX(${heard * axis.scale}px)`;
    const now = wordAt(words, heard);
    chips.forEach((chip, i) => chip.classList.toggle("hs-over", i === now));
    frame = requestAnimationFrame(follow);
  }

  function point(index) {
    if (index === over) return;
    over = index;
    state.changed();
  }

  const indexOf = (event) => {
    const chip = /** @type {Element} */ (event.target).closest("[data-index]");
    return chip instanceof HTMLElement ? Number(chip.dataset.index) : null;
  };
  list.onpointerover = (event) => point(indexOf(event));
  list.onpointerleave = () => point(null);
  list.addEventListener("focusin", (event) => point(indexOf(event)));
  list.addEventListener("focusout", () => point(null));
  list.onclick = (event) => {
    const index = indexOf(event);
    if (index !== null) choose(index);
  };
  list.onkeydown = (event) => {
    const index = indexOf(event);
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (index === null || !by || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = Math.min(Math.max(0, index + by), words.length - 1);
    choose(next);
    chips[next].focus();
  };
  canvas.onclick = (event) => {
    const second = axis && secondAt(axis, event.offsetX);
    if (second === null) return;
    const { query } = state.texts();
    if (query.timed) {
      const token = Math.floor((second / length().seconds) * query.labels.length);
      return state.select({ token, direction: "out" });
    }
    const at = wordAt(words, second);
    if (at >= 0) choose(at);
  };
  canvas.onpointermove = (event) => {
    const second = axis && secondAt(axis, event.offsetX);
    point(second === null || state.texts().query.timed ? null : wordAt(words, second));
  };
  canvas.onpointerleave = () => point(null);

  function fill() {
    chips = words.map(({ text }, i) => {
      const chip = element("button", "hs-chip hs-sound-word", { type: "button", dir: "auto", role: "radio" }, text);
      chip.dataset.index = String(i);
      return chip;
    });
    list.replaceChildren(...chips);
  }

  function arrange(now) {
    const widths = chips.map((chip) => chip.offsetWidth);
    const lanes = lanesOf(words, widths, now.scale);
    chips.forEach((chip, i) => {
      chip.style.transform = `translate(${words[i].start * now.scale}px, ${lanes[i] * LANE}px)`;
    });
    list.style.height = `${LANE * (Math.max(-1, ...lanes) + 1)}px`;
  }

  function prepare({ rows: tall, cols, levels }, theme) {
    const bytes = atob(levels);
    const [dark, light] = [parse(theme.background), parse(theme.text)].map((each) => each ?? [128, 128, 128]);
    [ground.width, ground.height] = [cols, tall];
    const image = new ImageData(cols, tall);
    for (let row = 0; row < tall; row++)
      for (let col = 0; col < cols; col++) {
        const share = tall === 1 ? 0.5 : (bytes.charCodeAt(row * cols + col) / 255) ** 1.5 * 0.9;
        const at = 4 * ((tall - 1 - row) * cols + col);
        for (let c = 0; c < 3; c++) image.data[at + c] = dark[c] + (light[c] - dark[c]) * share;
        image.data[at + 3] = 255;
      }
    contextOf(ground).putImageData(image, 0, 0);
  }

  function amplitudes(context, { cols, levels }, now, theme) {
    const bytes = atob(levels);
    context.fillStyle = theme.muted;
    const each = (now.heard * now.scale) / cols;
    for (let col = 0; col < cols; col++) {
      const tall = (bytes.charCodeAt(col) / 255) * TALL.image;
      context.fillRect(col * each, (TALL.image - tall) / 2, Math.max(each, 0.6), Math.max(tall, 1));
    }
  }

  function paint(spectrogram, row, now, theme) {
    const ratio = devicePixelRatio || 1;
    const tall = TALL.image + TALL.curve + TALL.axis;
    [canvas.width, canvas.height] = [Math.round(now.wide * ratio), Math.round(tall * ratio)];
    [canvas.style.width, canvas.style.height] = [`${now.wide}px`, `${tall}px`];
    const context = contextOf(canvas);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const end = now.heard * now.scale;
    context.fillStyle = theme.surface;
    context.fillRect(0, 0, now.wide, TALL.image);
    if (spectrogram && spectrogram.rows > 1) {
      context.imageSmoothingEnabled = true;
      context.drawImage(ground, 0, 0, end, TALL.image);
    } else if (spectrogram) amplitudes(context, spectrogram, now, theme);
    if (row) curve(context, row, now, theme);
    context.fillStyle = context.strokeStyle = theme.muted;
    context.font = `12px ${getComputedStyle(section).fontFamily}`;
    context.textBaseline = "top";
    const span = now.folded ? now.heard : now.seconds;
    for (const { value, text } of ticksOf([0, span], Math.max(2, (span * now.scale) / TICK))) {
      const x = value * now.scale;
      context.fillRect(Math.round(x), TALL.image + TALL.curve, 1, 4);
      context.textAlign = x < 12 ? "left" : x > now.wide - 24 ? "right" : "center";
      context.fillText(`${text} s`, x, TALL.image + TALL.curve + 6);
    }
    if (now.wide - end < 8) return;
    context.textAlign = "center";
    context.globalAlpha = 0.12;
    context.fillRect(end, 0, now.wide - end, TALL.image + TALL.curve);
    context.globalAlpha = 1;
    context.fillText("padding", end + (now.wide - end) / 2, 8, FOLD);
    context.fillText(`${(now.seconds - now.heard).toFixed(1)} s`, end + (now.wide - end) / 2, 24, FOLD);
    if (row) context.fillText(`${Math.round(100 * shareAfter(row, now))}\u00a0% of`, end + (now.wide - end) / 2, 52, FOLD);
    if (row) context.fillText("the weight", end + (now.wide - end) / 2, 67, FOLD);
  }

  function curve(context, row, now, theme) {
    const step = now.seconds / row.length;
    const last = Math.min(row.length, Math.ceil((now.folded ? now.heard : now.seconds) / step));
    const most = row.subarray(0, last).reduce((best, value) => Math.max(best, value), 1e-9);
    const base = TALL.image + TALL.curve;
    context.fillStyle = theme.primary;
    for (let i = 0; i < last; i++) {
      const tall = (row[i] / most) * (TALL.curve - 6);
      context.fillRect(i * step * now.scale, base - tall, Math.max(0.8, step * now.scale - 0.3), tall);
      context.globalAlpha = 0.55 * Math.sqrt(row[i] / most);
      context.fillRect(i * step * now.scale, 0, Math.max(0.8, step * now.scale), TALL.image);
      context.globalAlpha = 1;
    }
    context.fillStyle = theme.line;
    context.fillRect(0, base, now.wide, 1);
  }

  /** Shades the word under the pointer, else the chosen one, or the chosen frame. */
  function shade(now) {
    const at = over !== null && over >= 0 ? over : chosen();
    const span = at < 0 ? frameOf() : words[at];
    band.hidden = !span;
    if (!span) return;
    band.style.transform = `translateX(${span.start * now.scale}px)`;
    band.style.width = `${Math.max(2, (span.end - span.start) * now.scale)}px`;
  }

  /** The seconds of the chosen frame, where frames attend; null if none is, or it is folded away. */
  function frameOf() {
    const { token, direction } = state.selection;
    const { query, key } = state.texts();
    const of = direction === "in" ? key : query;
    if (token === null || !of.timed) return null;
    const step = length().seconds / of.labels.length;
    const start = token * step;
    return !state.padding && start >= length().heard ? null : { start, end: start + step };
  }

  function tell(row) {
    const { key, query } = state.texts();
    const where = capital(`${state.siteName().replace(" · ", ", ")}, ${state.headName()}`);
    const at = chosen();
    const { token } = state.selection;
    if (!key.timed) setText(says, `${where} attends to words, not to the recording: choose a word here to see where it listens.`);
    else if (token === null) setText(says, `${where}: choose a word to see where this head listens while the model writes it.`);
    else if (at >= 0) setText(says, `${where}: where this head listens while the model writes `, quoted(words[at].text), ".");
    else if (query.timed) setText(says, `${where}: which moments ${query.labels[token]} attends to. Click the recording to choose another.`);
    else setText(says, `${where}: where `, quoted(query.labels[token]), " listens.");
    const pointed = over !== null && over >= 0 ? over : at;
    if (pointed < 0) return setText(read, words.length ? "Point at a word to see when it is spoken." : "");
    const { text, start, end } = words[pointed];
    const share = row && pointed === at ? shareWithin(row, start, end) : null;
    setText(
      read,
      quoted(text),
      ` ${start.toFixed(2)}–${end.toFixed(2)} s`,
      share === null ? "" : ` · ${Math.round(100 * share)}\u00a0% of this head’s weight lies within the word`,
    );
  }

  function shareWithin(row, start, end) {
    const step = length().seconds / row.length;
    return row.subarray(Math.round(start / step), Math.round(end / step)).reduce((sum, value) => sum + value, 0);
  }

  return {
    /** @param {Theme} theme */
    render(theme) {
      section.hidden = !state.base.sound;
      if (section.hidden) return;
      const spoken = /** @type {Spoken | null} */ (state.view.answer("words", pathOf("words", timedBy())));
      const answer = /** @type {(Spectrogram & {why?: string}) | null} */ (state.view.answer("spectrogram", "spectrogram"));
      if (spoken && listed(spoken)) {
        if (spoken.words || !state.selection.timing) words = spoken.words ?? [];
        fill();
      }
      const { methods = [], method } = spoken ?? {};
      if (methods.length && offered(methods.join())) offerMethods(methods);
      const select = timing.querySelector("select");
      if (select && method) select.selectedIndex = methods.indexOf(method);
      timing.hidden = !state.view.remote || !select || !words.length;
      list.hidden = files.hidden = doubt.hidden = !words.length;
      if (method) setText(doubt, `${METHODS[method][1]} ${DOUBT}`);
      play.hidden = unfold.hidden = !state.view.remote;
      const image = answer && "rows" in answer ? answer : null;
      const now = timeAxis(length(), scroller.clientWidth, !state.padding);
      axis = now;
      unfold.hidden = length().seconds - length().heard < 0.05;
      setAttribute(unfold, "aria-pressed", String(state.padding));
      const plays = Boolean(player && !player.paused);
      setText(play, plays ? "■ Stop" : "▶ Play");
      setAttribute(play, "aria-label", plays ? "Stop" : "Play from the chosen word, or from the start");
      const row = weights();
      if (image && grounded(image, theme)) prepare(image, theme);
      if (drawn(image, row, now.wide, now.folded, theme)) {
        paint(image, row, now, theme);
        markPainted(section);
      }
      arrange(now);
      shade(now);
      const at = chosen();
      chips.forEach((chip, i) => {
        chip.setAttribute("aria-checked", String(i === at));
        chip.classList.toggle("hs-current", i === at);
        chip.tabIndex = i === Math.max(0, at) ? 0 : -1;
      });
      tell(row);
      if (spoken?.why && state.texts().key.timed !== state.texts().query.timed) setText(read, capital(spoken.why));
      heads.render(theme, state.view.remote && words.length > 0);
      canvas.setAttribute("aria-label", `Spectrogram with weights over ${length().heard.toFixed(1)} seconds. ${says.textContent}`);
    },
    destroy() {
      cancelAnimationFrame(frame);
      player?.pause();
      if (player) URL.revokeObjectURL(player.src);
    },
  };
}
