// Pictures that tokens lie on: where a word of an answer, an object or a patch looked, which heads look,
// and whether the word needs what lies there. All of these are those that the other panels show.

import { button, switchOf } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { contextOf, element, markPainted, quoted, setAttribute, setText } from "../core/dom.js";
import { capital, layerName } from "../core/labels.js";
import { ratioFor, savePicture } from "../painting/picture_file.js";
import { saveMenu } from "../core/save.js";
import { drawRectangles, placeFrame } from "../core/rectangle.js";
import { pathOf } from "../core/sources.js";
import { embedded } from "../core/view_panel.js";
import { fadeOf } from "../painting/flatness.js";
import { faded, levelOf, signedLevelOf, signedVeilOf, veilOf } from "../painting/over.js";
import { Strip } from "../matter/strip.js";
import { boxAt, drawBoxes, drawPoints, listed as listedObjects, nameOf, objectList, outside } from "./objects.js";
import { areaBetween, areaFrom, areaOf, cellBeside, cellOf, differenceText, extentOf, framesOf, isWhole, joined, momentText, needText, onPictures, PARTS, percent, ratioText, readersText, scaleText, sheetsOf, tokenAt, valuesOn, WHOLE } from "./picture_maps.js";
import { captionList } from "./captions.js";
import { meanRow } from "./mean_row.js";

/** @import {AnswerWord, AnswerWords, AreaReaders, Detected, HeadOnPicture, Need, Objects, Relative, SampledPoints, Theme, Versus} from "../types" */
/** @import {Sheet} from "./picture_maps.js" */
/** @import {TextState} from "./state.js" */

const TALLEST = 380; // CSS pixels of a picture
const WIDEST = 560;
const NARROW = 700; // of a section that has the numbers below its pictures
const GAP = 16; // between pictures
const BESIDE = 300; // of the numbers beside them
const MOST_ROWS = 8; // of a word, whose weights are fetched
const MASKS = /** @type {const} */ (["mean", "blur", "cut"]);
const MASK = {
  mean: { label: "Mean colour", how: "in the picture’s mean colour" },
  blur: { label: "Blur", how: "blurred" },
  cut: { label: "Cut tokens", how: "cut from attention" },
};
const HINT =
  "Drag over a picture to see which words looked at an area and to test whether this one needs it; click a patch for that alone. Keys: arrows move, Shift + arrows extend, Enter tests.";
const GENERIC = "Write a general description of the image.";
const BARE_HINT = "Drag over a picture to test whether this word needs an area, or hide all of it.";
const DOUBT =
  "Attended is not needed: a weight says where a head reads, after layers that have mixed the patches.";
const TEST = " Drag over an area to let the model read again without it.";

/**
 * A picture as it is drawn.
 *
 * @typedef {object} Drawn
 * @property {Sheet} sheet
 * @property {boolean} further whether it is of the second object
 * @property {HTMLCanvasElement} canvas
 * @property {HTMLElement} frame of the area
 * @property {HTMLElement} legend
 */

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function pictures(state, parent) {
  const says = element("p", "hs-sentence", { "aria-live": "polite" });
  const list = element("div", "hs-answer-words", { role: "radiogroup", "aria-label": "Words of the answer" });
  const sheets = element("div", "hs-pictures-sheets");
  const shares = element("dl", "hs-pictures-shares");
  const heads = element("ol", "hs-pictures-heads");
  const bare = button("Without sinks", "Leave out tokens that take weight at rest", () => {
    without = !without;
    state.changed();
  });
  const beside = element(
    "div",
    "hs-pictures-beside",
    {},
    shares,
    bare,
    element("p", "hs-heading", {}, "Heads that look at the picture"),
    heads,
  );
  const masks = MASKS.map((mask) => button(MASK[mask].label, `Hide the area: ${MASK[mask].how}`, () => {
    tested = true;
    state.select({ mask });
  }));
  const rival = element("input", "hs-select hs-rival", { type: "text", placeholder: "Why not … ?", "aria-label": "A rival word", maxlength: "40" });
  const clear = button("✕", "Show the weights again", () => show({ area: "" }));
  const whole = button("Whole picture", "Let the model read again without the whole picture", () =>
    show({ area: areaText(area()?.picture ?? 0, WHOLE) }),
  );
  const tools = element("div", "hs-row", {}, whole, switchOf("How the area is hidden", ...masks), rival, clear);
  const divide = button("Divide by the map of", "The map of this word in units of the map of another question’s answer", () =>
    show({ generic: state.selection.generic ? "" : question.value.trim() || GENERIC }),
  );
  divide.removeAttribute("aria-label");
  const question = element("input", "hs-select hs-generic", { type: "text", "aria-label": "The other question", maxlength: "200" });
  question.value = GENERIC;
  const relevance = button("Relevance", "What speaks for this word over all heads and layers: weights times gradient of its logit", () =>
    show({ relevant: state.selection.relevant === "yes" ? "no" : "yes" }),
  );
  relevance.removeAttribute("aria-label");
  const generic = element("div", "hs-row", {}, relevance, divide, question);
  const looked = element("p", "hs-looked", { "aria-live": "polite" });
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const controls = embedded(Strip);
  const doubt = element("p", "hs-doubt");
  const slider = element("input", "hs-threshold hs-moment", { type: "range", min: "0", step: "1", "aria-label": "Frames" });
  slider.oninput = () => state.select({ moment: Number(slider.value) });
  const momentLabel = element("span", "hs-number", { "aria-live": "polite" });
  const moments = element("div", "hs-row hs-moments", { hidden: "" }, element("span", "hs-label", {}, "Frames"), slider, momentLabel);
  const middle = element("div", "hs-pictures-middle", {}, sheets, beside);
  const heading = element("h3", "hs-heading");
  const keep = saveMenu(state.view, { form: () => "pictures", query: figure, picture: save });
  const lead = element("div", "hs-row", {}, heading, element("span", "hs-spring"), keep);
  const boxes = objectList((object) => (comparing ? pair(object) : pickObject(object)));
  const least = element("input", "hs-threshold", { type: "range", min: "0", max: "100", step: "5", value: "50" });
  least.setAttribute("aria-label", "Least score of a box");
  least.oninput = () => state.changed();
  const leastText = element("span", "hs-number");
  const compare = button("Compare", "Choose a second box to see beside the first", () => {
    comparing = !comparing && second < 0;
    second = -1;
    state.changed();
  });
  const sure = element("div", "hs-row hs-objects-tools", {}, element("span", "hs-label", {}, "Boxes from"), least, leastText, compare);
  const compared = captionList(state, showCaption);
  const section = element("section", "hs-section hs-pictures", {}, lead, compared.box, sure, boxes.box, list, says, moments, middle, tools, generic, looked, read, controls.box, doubt);
  parent.append(section);
  let without = false;
  /** @type {Theme | null} */
  let lastTheme = null;
  let tested = true; // whether the area is
  /** @type {{from: number, to: number} | null} tokens at two corners of an area, of the keys */
  let corners = null;
  /** @type {AnswerWord[]} */
  let words = [];
  /** @type {HTMLElement[]} */
  let chips = [];
  /** @type {Drawn[]} */
  let drawn = [];
  /** @type {Map<string, ImageBitmap | null>} by trace and number; null while on its way */
  const photos = new Map();
  /** @type {{at: number, trace: string, colours: Uint8Array} | null} */
  let lastScale = null; // whose tables of pixels are kept
  let comparing = false; // whether the next box is the second
  let second = -1; // object beside the chosen one
  /** @type {number | null} */
  let pointed = null; // query under the pointer
  /** @type {Detected[]} */
  let objects = [];
  /** @type {number[]} that are listed */
  let among = [];
  const boxed = changes();
  const listed = changes();
  const laid = changes();
  const ranked = changes();
  const painted = changes();

  /** What the server is told of the figure. */
  function figure() {
    const { site, head, token } = state.selection;
    /** @type {Record<string, string>} */
    const sinks = without ? { sinks: "hidden" } : {};
    /** @type {Record<string, number>} */
    const looking = token === null && state.selection.captions ? {} : { token: token ?? 0 };
    return { site, head, ...looking, ground: "colour", ...sinks, ...onPictures(state.selection) };
  }

  /** Saves the pictures as they are drawn, beside each other. */
  function save() {
    const family = getComputedStyle(section).fontFamily;
    const wide = drawn.reduce((sum, { canvas }) => sum + canvas.clientWidth + GAP, -GAP);
    const tall = Math.max(...drawn.map(({ canvas }) => canvas.clientHeight));
    const size = { wide, tall, family };
    const ratio = ratioFor(size);
    const together = element("canvas");
    [together.width, together.height] = [Math.round(wide * ratio), Math.round(tall * ratio)];
    const context = contextOf(together);
    context.imageSmoothingEnabled = false;
    let x = 0;
    for (const { canvas } of drawn) {
      context.drawImage(canvas, x * ratio, 0, canvas.clientWidth * ratio, canvas.clientHeight * ratio);
      x += canvas.clientWidth + GAP;
    }
    if (!lastTheme) return;
    const { rival: other, relevant, generic: about } = state.selection;
    const instead = other || about || relevant === "yes" ? ` · ${read.textContent}` : "";
    const legends = drawn.map(({ legend }) => legend.textContent).join("; ") + instead;
    const name = [state.base.model, "pictures", state.siteName(), state.headName()].join(" ").replace(/[^\p{L}\d]+/gu, "-");
    savePicture(together, size, { lines: [state.base.model, says.textContent ?? "", legends], theme: lastTheme, name, scale: null });
  }

  /** Shows where patches are, for the map of a caption. */
  function showCaption() {
    const at = state.base.sites.findIndex((site) => state.base.texts[site.key_text ?? 0].grids?.length);
    if (grids().length || at < 0) state.changed();
    else state.select({ site: at });
  }

  /** Shows one thing in place of the weights, or none. */
  function show(change, tests = true) {
    tested = tests;
    state.select({ rival: "", relevant: "no", generic: "", ...change });
    state.changed();
  }

  /** Whether the model can be asked again about areas: not in a saved page. */
  const tests = () => Boolean(state.base.asked) && state.view.remote;
  const area = () => areaFrom(state.selection.area);
  const areaText = (picture, sides) => [picture, ...sides].join(".");

  /** The groups of frames of a video; [] for pictures. */
  const film = () => (state.base.video ? sheetsOf(grids()).filter(({ frames }) => frames.length) : []);
  /** The group that is shown. */
  const moment = () => Math.min(state.selection.moment, film().length - 1);
  /** The first frame of it, in requests. */
  const frameOf = () => (film().length ? { frame: film()[moment()].frames[0] } : {});

  const grids = () => state.texts().key.grids ?? [];
  /** The grids of what looks, where it lies on the picture itself. */
  const asking = () => (state.base.asked ? [] : (state.texts().query.grids ?? []));
  const written = () => /** @type {AnswerWords} */ (state.view.answer("answer", "answer") ?? {});
  /** The sites that write words. */
  const writing = () => written().unplaced?.sites ?? written().sites ?? [];
  const answered = () =>
    state.base.asked ? null : /** @type {Objects | null} */ (state.view.answer("objects", "objects"));

  /** The query of an object in a site; −1 for none. */
  function rowOf(object, site = state.selection.site) {
    const first = answered()?.first?.[site] ?? -1;
    return first < 0 || object < 0 ? -1 : placeOf(first + object, site);
  }

  /** The chosen object; −1 for none. */
  function chosenObject() {
    const { token, direction } = state.selection;
    return token === null || direction === "in" ? -1 : objects.findIndex((_, i) => rowOf(i) === token);
  }

  function pickObject(object) {
    const { site } = state.selection;
    const { first = [] } = answered() ?? {};
    const sites = first.flatMap((row, i) => (row < 0 ? [] : [i]));
    const looking = sites.filter((i) => state.base.texts[state.base.sites[i].key_text ?? 0].grids?.length);
    const usual = looking.length ? looking : sites;
    const at = sites.includes(site) ? site : usual[usual.length - 1];
    if (at !== undefined) state.select({ site: at, token: rowOf(object, at), direction: "out" });
  }

  function pair(object) {
    if (chosenObject() < 0) return pickObject(object);
    [comparing, second] = [false, object];
    state.changed();
  }

  /** The query of a site's rows that holds a row of the trace; −1 for none. */
  function placeOf(row, site = state.selection.site) {
    const { origins, labels } = state.base.texts[state.base.sites[site].query_text ?? 0];
    if (!origins) return row < labels.length ? row : -1;
    return origins.findIndex((group) => group.includes(row));
  }

  /** The key of the view that holds a token of the trace. */
  function keyOf(token) {
    const { origins } = state.texts().key;
    return origins ? origins.findIndex((group) => group.includes(token)) : token;
  }

  /** The word whose row is chosen; −1 for none. */
  function chosen() {
    const { token, direction } = state.selection;
    if (token === null || direction === "in" || !writing().includes(state.selection.site)) return -1;
    return words.findIndex((word) => word.rows.some((row) => placeOf(row) === token));
  }

  /** The queries whose mean is drawn. */
  function rows() {
    const { token, direction } = state.selection;
    if (pointed !== null && direction === "out") return [pointed];
    if (token === null || direction === "in" || !(grids().length || chosenObject() >= 0)) return [];
    const at = chosen();
    if (at < 0) return [token];
    return [...new Set(words[at].rows.map((row) => placeOf(row)))].filter((row) => row >= 0).slice(0, MOST_ROWS);
  }

  /** The weights of the chosen word, once all of its rows are here. */
  const weights = () => meanRow(state, rows(), "looked", MOST_ROWS);

  /** The weights of the second object. */
  function weightsBeside() {
    const { site, head } = state.selection;
    const row = second < 0 ? -1 : rowOf(second);
    if (row < 0) return null;
    const here = state.maps.exact(site, head, "query", row);
    state.view.client?.want("looked beside", here ? null : pathOf("row", { site, head, axis: "query", index: row }));
    return here?.weights ?? null;
  }

  /** Which patches looked at the chosen one, where these are on one grid. */
  function weightsOnto() {
    const { token, direction } = state.selection;
    const asks = token !== null && direction === "in" && asking().length && state.texts().one;
    return asks ? Float32Array.from(state.exactRow("key", token)?.weights ?? []) : null;
  }

  /** Where an object samples the picture; null where it does not, or before the answer. */
  function pointsOf(object, slot) {
    const { site, head } = state.selection;
    if (object < 0 || !state.view.remote || !answered()?.sampled?.includes(site)) return null;
    return /** @type {(SampledPoints & {why?: string}) | null} */ (
      state.view.answer(slot, pathOf("points", { site, head, query: object }))
    );
  }

  /** Where a word is shown: a layer, and the row of the trace that writes it. */
  function placeOfWord(index) {
    const { site } = state.selection;
    const sites = writing();
    return { site: sites.includes(site) ? site : sites[sites.length >> 1], row: words[index].rows[0] };
  }

  /** Whether the weights of a row of the trace can be shown. */
  const holdsRow = ({ site, head, row }) =>
    state.view.remote || (site !== undefined && state.view.holds(pathOf("row", { site, head, axis: "query", index: placeOf(row, site) })));

  function pick(index) {
    const { site, row } = placeOfWord(index);
    if (site !== undefined) state.select({ site, token: placeOf(row, site), direction: "out" });
  }

  list.onclick = (event) => {
    const chip = /** @type {Element} */ (event.target).closest("[data-index]");
    if (chip instanceof HTMLElement) pick(Number(chip.dataset.index));
  };
  list.onkeydown = (event) => {
    const chip = /** @type {Element} */ (event.target).closest("[data-index]");
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!(chip instanceof HTMLElement) || !by || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = Math.min(Math.max(0, Number(chip.dataset.index) + by), words.length - 1);
    pick(next);
    chips[next].focus();
  };
  rival.onchange = () => show({ rival: rival.value.trim() });
  question.onchange = () => {
    if (state.selection.generic) show({ generic: question.value.trim() || GENERIC });
  };
  heads.onclick = (event) => {
    const item = /** @type {Element} */ (event.target).closest("[data-site]");
    if (item instanceof HTMLElement) state.select({ site: Number(item.dataset.site), head: Number(item.dataset.head) });
  };

  function fill() {
    chips = words.map(({ text, special }, i) => {
      const item = element("button", "hs-chip", { type: "button", dir: "auto", role: "radio" }, text);
      item.classList.toggle("hs-special", special);
      item.dataset.index = String(i);
      return item;
    });
    list.replaceChildren(...chips);
  }

  /** Makes the pictures of the present grids. */
  function lay() {
    const groups = film();
    const placed = groups.length ? framesOf(groups[moment()], state.base.pictures ?? 0) : sheetsOf(grids());
    const once = placed.length ? placed : bareSheets();
    const each = once.map((sheet) => ({ sheet, further: false }));
    const twice = second < 0 ? [] : once.map((sheet) => ({ sheet, further: true }));
    drawn = [...each, ...twice].map(({ sheet, further }, i) => {
      const canvas = element("canvas", "", { role: "img" });
      const frame = element("i", "hs-pictures-area", { "aria-hidden": "true", hidden: "" });
      const legend = element("figcaption", "hs-name");
      const box = element("div", "hs-pictures-photo", {}, canvas, frame);
      sheets.append(element("figure", "hs-pictures-sheet", {}, box, legend));
      listen(canvas, i);
      return { sheet, further, canvas, frame, legend };
    });
    sheets.replaceChildren(...drawn.map(({ legend }) => /** @type {HTMLElement} */ (legend.parentElement)));
  }

  /** The pictures without grids. */
  const bareSheets = () =>
    Array.from({ length: state.base.pictures ?? 0 }, (_, picture) => ({ picture, name: "", grids: [], tokens: 0, frames: [], photo: picture }));

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {number} index
   */
  function listen(canvas, index) {
    /** @param {MouseEvent} event @returns {[number, number]} */
    const shareOf = (event) => {
      const box = canvas.getBoundingClientRect();
      return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    };
    drawRectangles(canvas, {
      begin: (event) => (tests() ? shareOf(event) : null),
      at: shareOf,
      isPoint: (from, to) => !areaBetween(from, to),
      draw(from, to) {
        const sides = areaBetween(from, to);
        for (const each of drawn) if (each === drawn[index] || each.sheet.frames.length) outline(each, sides);
      },
      end(from, to) {
        corners = null;
        const sides = areaBetween(from, to);
        if (sides) show({ area: areaText(drawn[index].sheet.picture, sides) });
      },
    });
    canvas.onpointermove = (event) => {
      if (tests() && event.buttons & 1) return;
      if (event.pointerType === "mouse") point(cellUnder(index, shareOf(event)));
    };
    canvas.onpointerleave = () => point(null);
    canvas.onkeydown = (event) => {
      if (tests()) return void (extend(index, event) && event.preventDefault());
      const { token, direction } = state.selection;
      const next = token === null || direction === "in" ? -1 : cellBeside(asking(), token, event.key);
      if (next < 0) return;
      event.preventDefault();
      state.select({ token: next, direction: "out" });
    };
    canvas.onclick = (event) => {
      const { sheet } = drawn[index];
      corners = null;
      const object = boxAt(objects, among, ...shareOf(event));
      if (object >= 0) return comparing ? pair(object) : pickObject(object);
      const cell = cellUnder(index, shareOf(event));
      if (cell !== null) return state.select({ token: cell, direction: "out" });
      const token = tokenAt(sheet.grids, ...shareOf(event));
      const { site, head } = state.selection;
      if (token >= 0 && state.view.holds(pathOf("row", { site, head, axis: "key", index: token }))) state.select({ token, direction: "in" });
    };
  }

  /** Moves a corner of the area by a key, from the first patch on; Enter tests it. */
  function extend(index, { key, shiftKey, ctrlKey, metaKey, altKey }) {
    if (ctrlKey || metaKey || altKey) return false;
    const { grids: on, picture } = drawn[index].sheet;
    if (key === "Enter" && area()) {
      tested = true;
      state.changed();
      return true;
    }
    if (!key.startsWith("Arrow") || !on.length) return false;
    const known = corners && area()?.picture === picture && cellOf(on, corners.to) ? corners : null;
    const first = on[0].places.find((place) => place >= 0) ?? -1;
    const to = known ? cellBeside(on, known.to, key) : first;
    if (to < 0) return true;
    corners = { from: known && shiftKey ? known.from : to, to };
    const sides = areaOf(on, corners.from, to);
    if (sides) show({ area: areaText(picture, sides) }, false);
    return true;
  }

  /**
   * The query under a place of a picture, where queries lie on it and one is chosen to look.
   *
   * @param {number} index of the drawn picture
   * @param {[number, number]} place
   */
  function cellUnder(index, place) {
    if (state.selection.direction === "in") return null;
    const { picture } = drawn[index].sheet;
    const token = tokenAt(asking().filter((grid) => grid.picture === picture), ...place);
    return token < 0 ? null : token;
  }

  function point(query) {
    if (query === pointed) return;
    pointed = query;
    state.changed();
  }

  function tellMoment(row) {
    const groups = film();
    moments.hidden = groups.length < 2;
    if (moments.hidden) return;
    const at = moment();
    slider.max = String(groups.length - 1);
    slider.value = String(at);
    slider.setAttribute("aria-valuetext", groups[at].name);
    setText(momentLabel, momentText(groups, at, row));
  }

  function outline({ frame }, sides) {
    frame.hidden = !sides;
    if (!sides) return;
    const [left, top, right, bottom] = sides.map((side) => side / PARTS);
    placeFrame(frame, [left, top, right, bottom]);
  }

  function photo(number) {
    const key = `${state.trace}/${number}`;
    if (photos.has(key)) return photos.get(key) ?? null;
    const { client } = state.view;
    if (!client) return null;
    photos.set(key, null);
    const { signal } = new AbortController();
    client.source
      .get(pathOf("photo", { number }), { signal, priority: "high" })
      .then((bytes) => createImageBitmap(new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (bytes)], { type: "image/png" })))
      .then((bitmap) => {
        photos.set(key, bitmap);
        state.changed();
      })
      .catch(() => photos.delete(key));
    return null;
  }

  function paint({ sheet, canvas }, image, { maps, top, signed }, table) {
    const available = section.clientWidth;
    const abreast = Math.min(2, drawn.length);
    const free = available < NARROW ? available : (available - BESIDE - GAP * (abreast - 1)) / abreast;
    const room = Math.min(WIDEST, free);
    const zoom = Math.min(room / image.width, TALLEST / image.height);
    const [wide, tall] = [Math.round(image.width * zoom), Math.round(image.height * zoom)];
    const ratio = devicePixelRatio || 1;
    [canvas.width, canvas.height] = [Math.round(wide * ratio), Math.round(tall * ratio)];
    [canvas.style.width, canvas.style.height] = [`${wide}px`, `${tall}px`];
    const context = contextOf(canvas);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    if (sheet.grids.length) shadeUnseen(context, sheet.grids);
    const across = joined(sheet.grids.flatMap(({ box }) => [box[0], box[2]]));
    const down = joined(sheet.grids.flatMap(({ box }) => [box[1], box[3]]));
    sheet.grids.forEach(({ box, shape }, i) => {
      const values = maps[i];
      if (!values) return;
      const cells = new ImageData(shape[1], shape[0]);
      const pixels = new Uint32Array(cells.data.buffer);
      values.forEach((value, cell) => {
        const level = signed ? signedLevelOf(value / top) : levelOf(value / top, false);
        pixels[cell] = table[Math.min(255, Math.round(255 * level))];
      });
      const small = new OffscreenCanvas(shape[1], shape[0]);
      small.getContext("2d")?.putImageData(cells, 0, 0);
      const [left, above, right, bottom] = box.map((side, at) => (at % 2 ? down : across).get(side) ?? side);
      context.imageSmoothingEnabled = false;
      const { width, height } = canvas;
      const [x, y, end, floor] = [left * width, above * height, right * width, bottom * height].map(Math.round);
      context.drawImage(small, x, y, end - x, floor - y);
    });
  }

  /** What is marked on a picture: the cell that looks, boxes and sampling points. */
  function marks({ sheet, further, canvas }, row, points, theme) {
    const context = contextOf(canvas);
    const ratio = devicePixelRatio || 1;
    const { token, direction } = state.selection;
    const cell = cellOf(asking().filter(({ picture }) => picture === sheet.picture), pointed ?? token ?? -1);
    if (cell && (direction === "out" || state.texts().one)) {
      const [left, top, right, bottom] = cell.map((side, i) => side * (i % 2 ? canvas.height : canvas.width));
      for (const [colour, wide] of /** @type {const} */ ([["#000", 4], ["#fff", 2]])) {
        context.strokeStyle = colour;
        context.lineWidth = wide * ratio;
        context.strokeRect(left, top, right - left, bottom - top);
      }
    }
    const chosenOne = further ? second : chosenObject();
    const first = rowOf(0);
    const weighed = row && !grids().length && first >= 0 ? objects.map((_, i) => row[rowOf(i)]) : null;
    const { primary: colour, background: on } = theme;
    drawBoxes(context, objects, among, { chosen: chosenOne, colour, on, ratio, weights: weighed });
    if (points?.places) drawPoints(context, points, { colour, ratio });
  }

  /** The rows of objects, and which is chosen. */
  function listObjects() {
    const answer = answered();
    objects = answer?.objects ?? [];
    const least100 = Number(least.value);
    const chosenOne = chosenObject();
    among = listedObjects(objects, least100 / 100, [chosenOne, second]);
    boxes.box.hidden = sure.hidden = !objects.length;
    if (boxed(answer, among.join())) boxes.fill(objects, among);
    boxes.mark(chosenOne, second);
    setText(leastText, `${least100}\u00a0%`);
    setAttribute(compare, "aria-pressed", String(comparing || second >= 0));
    compare.disabled = chosenOne < 0;
    return answer?.why ?? "";
  }

  /** Darkens what the model does not see. */
  function shadeUnseen(context, seen) {
    const { width, height } = context.canvas;
    const [left, top, right, bottom] = extentOf(seen).map((side, i) => side * (i % 2 ? height : width));
    context.fillStyle = "rgba(0, 0, 0, 0.72)";
    context.fillRect(0, 0, left, height);
    context.fillRect(right, 0, width - right, height);
    context.fillRect(left, 0, right - left, top);
    context.fillRect(left, bottom, right - left, height - bottom);
  }

  function rank(span) {
    const { site, head } = state.selection;
    const answer = /** @type {{heads?: HeadOnPicture[], count?: number} | null} */ (held("ranked", span));
    const listing = answer?.heads;
    if (ranked(listing ?? null, state.base) && listing) {
      heads.replaceChildren(
        ...listing.map((each) => {
          const name = `layer ${layerName(state.base, each.site)} · head ${each.head}`;
          const item = element("button", "hs-button hs-pictures-head", { type: "button" }, `${name}: ${percent(each.mass)}${each.entropy === null ? "" : `, entropy ${each.entropy.toFixed(2)}`}`);
          item.dataset.site = String(each.site);
          item.dataset.head = String(each.head);
          item.title = aboutHead(each);
          return element("li", "", {}, item);
        }),
      );
    }
    for (const item of heads.querySelectorAll("button")) {
      const at = { site: Number(item.dataset.site), head: Number(item.dataset.head) };
      item.setAttribute("aria-pressed", String(at.site === site && at.head === head));
      item.disabled = !holdsRow({ ...at, row: span.first });
    }
  }

  const aboutHead = ({ mass, entropy, localises }) =>
    `${percent(mass)} of the weight on pictures${entropy === null ? "" : `, spatial entropy ${entropy.toFixed(2)} nats${localises ? "; localises" : ""}`}`;

  function split(span) {
    const { site, head } = state.selection;
    const answer = /** @type {{image?: number[], sinks?: number[], text?: number[], at?: number[]} | null} */ (held("shares", { site, ...span }));
    const { image, sinks, text } = answer ?? {};
    shares.hidden = !state.view.holds(pathOf("shares", { site, ...span })); // those of another layer would stand there
    if (!image || !sinks || !text) return null;
    const of = (values) => (typeof head === "number" ? values[head] : head === "max" ? Math.max(...values) : values.reduce((a, b) => a + b, 0) / values.length);
    const parts = /** @type {[string, number][]} */ ([["on the picture", of(image)], ["on sinks", of(sinks)], ["on other text", of(text)]]);
    shares.replaceChildren(
      ...parts.flatMap(([name, share]) => {
        const bar = element("span", "hs-bar-line", { "aria-hidden": "true" });
        bar.style.setProperty("--share", `${100 * share}%`);
        return [element("dt", "", {}, name), element("dd", "", {}, bar, percent(share))];
      }),
    );
    return answer?.at?.map((key) => keyOf(key)) ?? [];
  }

  /** What is asked of the model again: the area, or the rival. */
  function asked(span) {
    const { site, head, mask, rival: other, relevant, generic: about } = state.selection;
    const hidden = area();
    /** @type {{need: Need | null, versus: Versus | null, relative?: Relative | null, why: string}} */
    const none = { need: null, versus: null, why: "" };
    if (about) {
      const answer = /** @type {(Relative & {why?: string}) | null} */ (held("relative", { site, head, ...span, question: about }));
      return { ...none, relative: answer?.maps ? answer : null, why: reason("relative", answer) };
    }
    if (other || relevant === "yes") {
      const answer = /** @type {(Versus & {why?: string}) | null} */ (held("versus", { row: span.first, ...(other ? { rival: other } : {}) }));
      return { ...none, versus: answer?.maps ? answer : null, why: reason("versus", answer) };
    }
    if (!hidden || !tested) return none;
    const [left, top, right, bottom] = hidden.sides;
    const answer = /** @type {(Need & {why?: string}) | null} */ (held("need", { number: hidden.picture, left, top, right, bottom, ...span, mask, ...frameOf() }));
    return { ...none, need: answer?.elsewhere ? answer : null, why: reason("need", answer) };
  }

  /** An answer of the server, or one that the file holds; null until it has come, and without one. */
  function held(name, query) {
    const path = pathOf(name, query);
    return state.view.holds(path) ? state.view.answer(name, path) : null;
  }

  /** Why there is no answer, or what is waited for; "" in a file that has none. */
  const reason = (slot, answer) => answer?.why ?? (answer || !state.view.remote ? "" : state.waitingFor(slot, "The model reads again"));

  /** Which words looked at the area. */
  function areaReaders() {
    const seen = area();
    if (!seen || !grids().length) return null;
    const [left, top, right, bottom] = seen.sides;
    const { site, head } = state.selection;
    return /** @type {(AreaReaders & {why?: string}) | null} */ (held("readers", { site, head, number: seen.picture, left, top, right, bottom, ...frameOf() }));
  }

  function tell() {
    const where = capital(`${state.siteName().replace(" · ", ", ")}, ${state.headName()}`);
    const { token, direction } = state.selection;
    const at = chosen();
    const object = objects[chosenObject()];
    if (object) {
      const what = grids().length ? "Brighter = more weight." : answered()?.sampled?.includes(state.selection.site) ? "The number beside a box is its weight; dots are the points that the query samples in this block, by weight: a softmax over these points, not over positions." : "The number beside a box is its weight.";
      const verb = grids().length ? "where" : "at which objects";
      return setText(says, `${where}: ${verb} the query that says `, quoted(object.name), ` looks. ${what}`);
    }
    if (!state.base.asked && !words.length) {
      if (!grids().length) return setText(says, `${where} attends to no picture${objects.length ? ": choose a box" : state.base.captions ? ": write captions above, or choose a layer of the vision tower" : ""}.`);
      if (token === null && pointed === null) return setText(says, `${where}: choose ${objects.length ? "a box" : asking().length ? "a patch" : "a token"} to see where it looks.`);
      const label = direction === "in" && token !== null ? state.labels().key[token] : state.labels().query[pointed ?? token ?? 0];
      return direction === "in" ? setText(says, `${where}: what looks at `, quoted(label), ".") : setText(says, `${where}: where `, quoted(label), " looks. Brighter = more weight.");
    }
    const { unplaced } = written();
    if (unplaced && !grids().length) {
      const next = at < 0 ? "Choose a word to test whether it needs the picture." : "The matrix has the weights of this word on all tokens.";
      return setText(says, `No map can be drawn on the picture: ${unplaced.why}. ${next}`);
    }
    if (!grids().length) return setText(says, `${where} attends to no picture: choose a word to see where it looked.`);
    if (token === null) return setText(says, `${where}: choose a word to see where this head looked while the model wrote it.`);
    if (direction === "in") return setText(says, `${where}: which words looked at `, quoted(state.labels().key[token]), ".");
    if (at >= 0) return setText(says, `${where}: where this head looked while the model wrote `, quoted(words[at].text), ". Brighter = more weight.");
    return setText(says, `${where}: where `, quoted(state.labels().query[token]), " looks. Brighter = more weight.");
  }

  /** Of each word how much it looked at the area, or at the chosen patch. */
  function inward(theme, readers) {
    const { token, direction } = state.selection;
    const asks = direction === "in" && token !== null;
    const column = readers?.weights ?? (asks ? state.exactRow("key", token)?.weights : null) ?? null;
    const indexOf = (row) => (readers ? row - readers.first : placeOf(row));
    const most = column ? Math.max(1e-9, ...column) : 1;
    return chips.map((chip, i) => {
      const places = words[i].rows.map(indexOf).filter((row) => row >= 0);
      const share = column && places.length ? places.reduce((sum, row) => sum + column[row], 0) / places.length : 0;
      chip.style.boxShadow = column ? `inset 0 -${Math.round(12 * Math.sqrt(share / most))}px ${theme.primary}66` : "";
      chip.title = column ? `weight ${share.toFixed(4)}` : "";
      return share;
    });
  }

  return {
    /** @param {Theme} theme */
    render(theme) {
      const { pictures: count, asked: asks, texts } = state.base;
      section.hidden = !count || !(asks || state.view.answer("objects", "objects"));
      if (section.hidden) return;
      const refusal = listObjects();
      section.hidden = !asks && !objects.length && !texts.some((text) => text.grids?.length);
      if (section.hidden) return;
      const answer = /** @type {AnswerWords | null} */ (state.view.answer("answer", "answer"));
      const unplaced = Boolean(answer?.unplaced);
      if (listed(answer)) {
        words = answer?.words ?? [];
        fill();
      }
      if (laid(state.base, state.texts().key, second, moment())) lay();
      setText(doubt, tests() ? DOUBT + TEST : DOUBT);
      setText(heading, words.length || asks ? "Answer" : objects.length ? "Objects" : "Over the picture");
      const at = chosen();
      chips.forEach((chip, i) => {
        setAttribute(chip, "aria-checked", String(i === at));
        /** @type {HTMLButtonElement} */ (chip).disabled = !holdsRow({ ...placeOfWord(i), head: state.selection.head });
        chip.classList.toggle("hs-current", i === at);
        chip.tabIndex = i === Math.max(0, at) ? 0 : -1;
      });
      lastTheme = theme;
      const caption = compared.render();
      const row = weightsOnto() ?? weights();
      const rowBeside = weightsBeside();
      const points = [pointsOf(chosenObject(), "points"), pointsOf(second, "points beside")];
      const span = at < 0 ? null : { first: words[at].rows[0], last: words[at].rows[words[at].rows.length - 1] };
      const sinks = span ? split(span) : null;
      beside.hidden = !span || !(sinks || state.view.holds(pathOf("ranked", span)));
      bare.hidden = shares.hidden || unplaced;
      for (const item of tools.children) if (item !== clear) /** @type {HTMLElement} */ (item).hidden = !tests();
      tools.hidden = !span;
      generic.hidden = !span || !tests() || unplaced;
      if (unplaced) rival.hidden = true;
      if (span && !beside.hidden) rank(span);
      setAttribute(bare, "aria-pressed", String(without));
      MASKS.forEach((mask, i) => setAttribute(masks[i], "aria-pressed", String(state.selection.mask === mask)));
      setAttribute(whole, "aria-pressed", String(isWhole(area())));
      masks.forEach((item, i) => (item.disabled = !area() || (unplaced && MASKS[i] === "cut")));
      if (!rival.matches(":focus")) rival.value = state.selection.rival;
      const { need, versus, relative = null, why } = span ? asked(span) : { need: null, versus: null, why: "" };
      const { generic: about, relevant, direction } = state.selection;
      if (!question.matches(":focus") && about) question.value = about;
      keep.hidden = !compared.count() && (!row || !grids().length || direction === "in");
      if (answer?.why && asks) setText(says, capital(answer.why));
      else if (caption) setText(says, "Which patches speak for ", quoted(caption.text), " (Chefer et al. 2021, over the vision tower). Brighter = more relevance. It says what raises the similarity to this caption, not what tells two captions apart.");
      else if (versus) setText(says, `All heads and layers together: what speaks for `, quoted(versus.word), versus.rival ? " and what for " : " and what against it.", ...(versus.rival ? [quoted(versus.rival), "."] : []));
      else tell();
      setAttribute(divide, "aria-pressed", String(Boolean(about)));
      setAttribute(relevance, "aria-pressed", String(relevant === "yes"));
      clear.hidden = !(tests() && (area() || state.selection.rival || relevant === "yes" || about)) && !versus && !relative;
      const left = without && sinks ? new Set(sinks) : undefined;
      const { sequential, diverging } = state.base.theme.dark; // weights shine in both modes
      const scale = versus ? diverging : sequential;
      const colours = scale === lastScale?.at && state.trace === lastScale.trace ? lastScale.colours : state.overview.subarray(scale, scale + 768);
      lastScale = { at: scale, trace: state.trace, colours };
      const every = drawn.map(({ sheet, further }) =>
        sheet.grids.map((grid) => mapOf(grid, further ? rowBeside : row, versus ?? relative ?? (caption ? { maps: [caption.map] } : null), left)),
      );
      const elsewhere = film().length ? grids().map((grid) => mapOf(grid, row, versus ?? relative, left)) : [];
      const numbers = [...every.flat(), ...elsewhere].flatMap((map) => (map ? [...map] : []));
      const top = Math.max(1e-12, ...numbers.map(Math.abs));
      const fade = relative || caption ? 1 : fadeOf(numbers);
      const table = versus ? signedVeilOf(colours) : faded(veilOf(colours), fade);
      const images = drawn.map(({ sheet }) => photo(sheet.photo));
      const what = [row, rowBeside, ...points, objects, among.join(), chosenObject(), second, pointed, state.selection.token];
      if (painted(...what, versus, relative, caption, without, section.clientWidth, theme, state.texts().key, ...images)) {
        drawn.forEach((each, i) => {
          const image = images[i];
          const maps = every[i].flatMap((map) => map ?? []);
          const sampled = points[Number(each.further)];
          if (image) {
            paint(each, image, { maps, top, signed: Boolean(versus) }, table);
            marks(each, each.further ? rowBeside : row, sampled, theme);
          }
          describe(each, maps, top, { versus, relative }, sampled);
        });
        markPainted(section);
      }
      const hidden = area();
      for (const each of drawn) outline(each, hidden && each.sheet.picture === hidden.picture ? hidden.sides : null);
      tellMoment(row);
      const word = at < 0 ? "" : words[at].text;
      if (versus && !versus.rival) setText(read, `What raises the logit of “${versus.word}”, ${versus.difference.toFixed(2)}, in `, inColour(colours, 255), "; what lowers it in ", inColour(colours, 0), " (weights times gradient, all heads and layers). It tells what a small change would do.");
      else if (versus) setText(read, `${differenceText(versus)}: what speaks for “${versus.word}” in `, inColour(colours, 255), `, for “${versus.rival}” in `, inColour(colours, 0), " (weights times gradient, all heads and layers).");
      else if (relative) setText(read, ratioText(word, about));
      else if (need) setText(read, needText(word, need, MASK[state.selection.mask].how, isWhole(hidden)));
      else setText(read, why || (span && tests() ? (unplaced ? BARE_HINT : HINT) : points[0]?.why || refusal));
      controls.box.hidden = !need?.elsewhere.length;
      if (need?.elsewhere.length) {
        const [mine, ...others] = [need.after, ...need.elsewhere].map((share, i) => ({ name: i ? `area ${i} elsewhere` : "this area", value: need.before - share, exact: true }));
        controls.render({ mine, others, words: `What hiding this area takes from the probability of “${word}”, beside ${others.length} areas of its size` });
      }
      const readers = areaReaders();
      const byWord = inward(theme, readers?.weights ? readers : null);
      looked.hidden = !readers;
      if (readers) setText(looked, readers.why ? capital(readers.why) : readersText(words, byWord, readers.patches, readers.question));
    },
    destroy() {
      for (const bitmap of photos.values()) bitmap?.close();
    },
  };

  /** A colour of a scale, shown beside the words for it. */
  function inColour(colours, at) {
    const name = at ? "this colour" : "that colour";
    const sample = element("i", "hs-sample", { "aria-hidden": "true" });
    sample.style.background = `rgb(${colours.slice(3 * at, 3 * at + 3).join(" ")})`;
    return element("span", "hs-sampled", {}, `${name} `, sample);
  }

  /** The numbers of a grid's cells; null where they are not here. */
  function mapOf(grid, row, instead, left) {
    if (instead) return Float32Array.from((instead.maps[grids().indexOf(grid)] ?? []).flat(), Number);
    return row ? valuesOn(grid, row, left) : null;
  }

  function describe({ sheet, further, canvas, legend }, maps, top, { versus, relative }, points) {
    const several = sheet.frames.length ? "" : (state.base.pictures ?? 1) > 1 ? `Picture ${sheet.picture + 1}` : "Picture";
    const [grid] = sheet.grids;
    const shape = sheet.grids.length > 1 ? `${sheet.grids.length} tiles` : grid ? `${grid.shape[0]} × ${grid.shape[1]}` : "";
    const tokens = grid ? `${sheet.tokens} tokens (${shape})` : "";
    const times = relative ? "times the other question’s map, " : "";
    const scale = versus ? "" : maps.length ? times + scaleText(maps, top) : "";
    const object = objects[further ? second : chosenObject()];
    const samples = points?.places ? `${points.places.length} sampling points${outside(points)}` : "";
    canvas.tabIndex = asking().length || (tests() && grid) ? 0 : -1;
    const parts = [object ? nameOf(object) : "", capital([several, sheet.name].filter(Boolean).join(", ")), tokens, samples, scale].filter(Boolean);
    setText(legend, parts.join(" · "));
    setAttribute(canvas, "aria-label", `${parts.join(", ")}. ${says.textContent}`);
  }
}
