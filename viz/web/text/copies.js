// The text shaded by several heads or layers beside each other: where a token looks, who looks at it,
// or the mean over all tokens.

import { switchOf } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { textOn } from "../core/colours.js";
import { contextOf, element, markPainted, quoted, savePng, setText } from "../core/dom.js";
import { legible } from "../core/labels.js";
import { listenForBrush } from "./brushing.js";
import { hiddenShare, percent, strongestPlaces } from "./filters.js";
import { DOUBT } from "../../views/matrix/claims.js";
import { fontOf, shortened, widthOf } from "../painting/lettering.js";
import { mixed, passage } from "./passage.js";
import { headsShown } from "./strands.js";
import { headColour, headSwitches, layerSwitches } from "./switches.js";
import { wrapped } from "./wrap.js";

/** @import {Theme} from "../types" */
/** @import {Copy, TextState} from "./state.js" */

const TALLEST = 300; // pixels of a shaded text, at a unit of 1
const AROUND = "300px"; // outside of the window, where texts are drawn already

/** @type {ReadonlySet<number>} */
const NONE = new Set();

/**
 * The weights a text is shaded by.
 *
 * @typedef {{values: ArrayLike<number>, sign: "" | "≈"}} Values
 */

/**
 * @typedef {object} Shaded
 * @property {Copy} copy
 * @property {HTMLElement} box
 * @property {HTMLButtonElement} title
 * @property {HTMLElement} read
 * @property {ReturnType<typeof passage>} text
 */

/**
 * @param {TextState} state
 * @param {HTMLElement} parent
 */
export function copies(state, parent) {
  const title = element("h3", "hs-heading", {}, "Text");
  const sentence = element("p", "hs-sentence");
  const outgoing = wayButton("From a token", "What does a token attend to?", { direction: "out" });
  const incoming = wayButton("To a token", "Who attends to a token?", { direction: "in" });
  const mean = element("button", "hs-button", { type: "button" }, "Average");
  mean.title = "How much weight does each token receive, averaged over all tokens?";
  mean.onclick = () => state.select({ average: "yes" });
  const heads = headSwitches(state);
  const layers = layerSwitches(state);
  const several = element("div", "hs-row hs-switches", {}, label("Layers"), layers.box);
  const choices = passage("hs-choice", "Choose a token", {
    point: (index) => pointAt(index),
    choose: (index) => pin(index),
    scrolled: () => state.changed(),
  });
  const grid = element("div", "hs-copies-grid");
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const section = element(
    "section",
    "hs-section hs-copies",
    {},
    element(
      "div",
      "hs-row",
      {},
      title,
      element("span", "hs-spring"),
      switchOf("Weights shown", outgoing, incoming, mean),
    ),
    sentence,
    element("div", "hs-row hs-switches", {}, label("Heads"), heads.box),
    ...[several, choices.box, read, grid, element("p", "hs-doubt", {}, DOUBT)],
  );
  parent.append(section);

  /** @type {Shaded[]} */
  let shaded = [];
  /** @type {Set<Element>} */
  const inSight = new Set();
  /** @type {number | null} the answering token under the pointer */
  let over = null;
  /** @type {import("./span.js").Range | null} */
  let brushed = null; // what a drag would choose
  const built = changes();
  const revealed = changes();
  const jumped = changes();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries)
        if (isIntersecting) inSight.add(target);
        else inSight.delete(target);
      state.changed();
    },
    { rootMargin: AROUND },
  );

  function wayButton(text, help, change) {
    const node = element("button", "hs-button", { type: "button", title: help }, text);
    node.onclick = () => state.select({ ...change, average: "no" });
    return node;
  }

  function label(text) {
    return element("span", "hs-label", { "aria-hidden": "true" }, text);
  }

  const isMean = () => state.selection.average === "yes";
  const outward = () => state.selection.direction !== "in";
  /** Of the token in question. */
  const asking = () => (outward() ? "query" : "key");
  /** Of the shaded tokens. */
  const answering = () => (outward() || isMean() ? "key" : "query");
  /** The token in question: the pinned one, else the one under the pointer. */
  function token() {
    if (isMean()) return null;
    const { isolated } = state;
    return state.selection.token ?? (isolated?.axis === asking() ? isolated.index : null);
  }

  // ---- what the user does

  function pointAt(index) {
    state.isolate(index === null ? null : { axis: asking(), index });
  }

  function pin(index) {
    if (isMean()) return;
    state.select({ token: state.selection.token === index ? null : index });
  }

  function pointInCopy(index) {
    const one = state.isOneText();
    over = index;
    if (one && !isMean() && state.selection.token === null) pointAt(index);
    else state.changed();
  }

  // ---- what is shaded

  function wanted() {
    const { shown: listed, head } = state.selection;
    const { query_text: rows, key_text: columns } = state.site();
    return layers
      .sites()
      .filter((site) => state.site(site).query_text === rows && state.site(site).key_text === columns)
      .flatMap((site) =>
        headsShown(listed, head, state.site(site).heads).map((each) => ({ site, head: each })),
      );
  }

  function build(theme) {
    for (const each of shaded) each.text.destroy();
    observer.disconnect();
    inSight.clear();
    shaded = wanted().map((copy) => shadedText(copy, theme));
    grid.replaceChildren(...shaded.map(({ box }) => box));
    for (const { box } of shaded) observer.observe(box);
  }

  function shadedText(copy, theme) {
    const { site, head } = copy;
    const name = `${state.siteName(site)} · ${state.headName(head, site)}`;
    const heading = element("button", "hs-copy-title", { type: "button" }, name);
    heading.title = `Choose ${name}`;
    heading.onclick = () => state.select({ site, head });
    const number = element("span", "hs-copy-number");
    const text = passage("hs-chips", `Text shaded by ${name}`, {
      point: pointInCopy,
      choose: pin,
      scrolled() {
        for (const other of shaded) other.text.box.scrollTop = text.box.scrollTop;
        state.changed();
      },
    });
    listenForBrush(text.box, {
      placeOf: (event) => {
        const index = text.indexOf(event);
        return index === null ? null : { axis: answering(), index };
      },
      anchor: () => state.selection.token,
      mark(_, range) {
        brushed = range;
        state.changed();
      },
      apply: (axis, range) => state.brush(axis, range),
    });
    const box = element("div", "hs-copy", {}, heading, number, text.box);
    box.style.setProperty("--head", headColour(head, theme));
    return { copy, box, title: heading, read: number, text };
  }

  /** The weights of the token in question in one head, as exactly as they are here. */
  function valuesOf({ site, head }) {
    const current = token();
    const exact = isMean()
      ? state.maps.exact(site, head, "mean", 0)
      : current !== null && state.maps.exact(site, head, asking(), current);
    if (exact) return { values: exact.weights, sign: "" };
    if (current === null) return null;
    const { queries, keys } = state.site(site);
    /** @type {[number, number]} */
    const one = [current, current + 1];
    const values = outward()
      ? state.maps.window(site, head, one, [0, keys])
      : state.maps.window(site, head, [0, queries], one);
    return values && { values, sign: "≈" };
  }

  function shade({ copy, box, text, read: number }, theme) {
    const { least, top: count, scale, token: chosen } = state.selection;
    const one = state.isOneText();
    const range = answering() === "key" ? state.ranges().cols : state.ranges().rows;
    const values = valuesOf(copy);
    box.classList.toggle("hs-dim", !values && (isMean() || token() !== null));
    const most = values ? Math.max(...strongestPlaces(values.values, 1).map((i) => values.values[i])) : 1;
    const top = scale === "own" || isMean() ? most || 1 : 1;
    const colour = headColour(copy.head, theme);
    const places = values && count ? strongestPlaces(values.values, count, range) : [];
    text.render(
      {
        ground: (i) =>
          values && values.values[i] >= least && values.values[i] > 0
            ? mixed(theme.background, colour, Math.sqrt(values.values[i] / top))
            : null,
        describe: (i) => (values ? `weight ${values.sign}${values.values[i].toFixed(values.sign ? 3 : 5)}` : ""),
        current: one ? token() : null,
        chosen: isMean() ? null : chosen,
        over,
        matches: state.matchPlaces(answering()),
        marked: places.length ? new Set(places) : NONE,
        brushed,
      },
      theme,
    );
    setText(number, ...numberOf(values, range, least));
  }

  /** The weight under the pointer, else the largest one; and what is hidden. */
  function numberOf(values, range, least) {
    if (!values) return [isMean() || token() !== null ? "…" : ""];
    const labels = state.labels()[answering()];
    const asks = over !== null && (isMean() || over !== token());
    const place = asks && over !== null ? over : strongestPlaces(values.values, 1)[0];
    const value = values.values[place].toFixed(values.sign ? 3 : 5);
    const verb = asks ? "" : isMean() ? "most: " : outward() ? "most to " : "most from ";
    const share = hiddenShare(values.values, range, least);
    const hidden = share > 0.0005 ? [` · ${percent(share)} hidden`] : [];
    return [verb, ...quoted(labels[place]), ` (${place}) ${values.sign}${value}`, ...hidden];
  }

  // ---- words

  function explain() {
    const current = token();
    const each = "Each copy is the text as one head sees it; the stronger its colour, the more weight";
    const scale =
      state.selection.scale === "own" || isMean() ? "its own largest weight" : "a weight of 1";
    const least = `${each}: full at ${scale}, ∝ √weight.`;
    if (isMean()) setText(sentence, `The weight each token receives, averaged over all tokens. ${least}`);
    else if (outward()) setText(sentence, `Where a token looks. ${least}`);
    else setText(sentence, `Who looks at a token. ${least}`);
    read.classList.toggle("hs-muted", current === null);
    const labels = state.labels();
    if (isMean()) setText(read, "Point at a token to read its mean weight in every copy.");
    else if (current === null)
      setText(read, "Point at a token to shade the text by it, click to keep it, Escape lets go.");
    else {
      const name = [...quoted(labels[asking()][current]), ` (${current})`];
      const verb = outward() ? " attends to …" : " is attended to by …";
      const more = state.selection.token === null ? "" : " Point at a token to read its weight in every copy.";
      setText(read, ...name, verb, more);
    }
  }

  function render(theme) {
    const { form, token: chosen, shown: listed, head, layers: some } = state.selection;
    section.hidden = form !== "text";
    if (section.hidden) return state.setCopies([]);
    outgoing.setAttribute("aria-pressed", String(outward() && !isMean()));
    incoming.setAttribute("aria-pressed", String(!outward() && !isMean()));
    mean.setAttribute("aria-pressed", String(isMean()));
    heads.render(theme);
    layers.render();
    several.hidden = state.group().length < 2;
    const { site } = state.selection;
    if (built(theme, state.trace, site, listed, head, some)) build(theme);
    const seen = shaded.filter(({ box }) => inSight.has(box));
    state.setCopies(seen.map(({ copy }) => copy));
    const { query, key } = state.texts();
    const one = state.isOneText();
    const { rows, cols } = state.ranges();
    const style = getComputedStyle(section);
    const unit = parseFloat(style.fontSize) / 16;
    const how = { unit, family: style.fontFamily, tallest: TALLEST * unit };
    choices.box.hidden = one || isMean();
    if (!choices.box.hidden) {
      const [text, range] = outward() ? [query, rows] : [key, cols];
      choices.arrange(text, range, { ...how, tallest: 120 * unit, picks: true });
      const look = { ground: () => null, describe: () => "", over: null, marked: NONE, chosen, brushed: null };
      choices.render({ ...look, current: token(), matches: state.matchPlaces(asking()) }, theme);
    }
    const [text, range] = answering() === "key" ? [key, cols] : [query, rows];
    for (const each of seen) {
      each.text.arrange(text, range, { ...how, picks: one && !isMean() });
      shade(each, theme);
    }
    const match = state.matched();
    if (jumped(match?.axis, match?.index) && match) {
      if (one || match.axis === answering()) for (const each of seen) each.text.reveal(match.index);
      else choices.reveal(match.index);
    }
    if (revealed(chosen, state.trace) && chosen !== null && one)
      for (const each of seen) each.text.reveal(chosen);
    explain();
    markPainted(section);
  }

  /** The texts in sight with their titles, as a PNG file. */
  function save() {
    if (!last) return;
    const theme = last;
    const style = getComputedStyle(section);
    const unit = parseFloat(style.fontSize) / 16;
    const family = style.fontFamily;
    const plain = fontOf(unit, family, 15);
    const [width, row, margin] = [760 * unit, 28 * unit, 24 * unit];
    const labels = state.labels()[answering()];
    const range = answering() === "key" ? state.ranges().cols : state.ranges().rows;
    const widths = labels.slice(...range).map((each) => widthOf(plain, legible(each)) + 10 * unit);
    const rows = wrapped(widths, width, { gap: 4, row, line: 0 }, range[0]);
    const each = rows.length * row + 44 * unit;
    const all = shaded.filter(({ copy }) => valuesOf(copy));
    const file = element("canvas");
    file.width = 2 * (width + 2 * margin);
    file.height = 2 * (all.length * each + 2 * margin + 30 * unit);
    const context = contextOf(file);
    context.scale(2, 2);
    context.fillStyle = theme.background;
    context.fillRect(0, 0, file.width, file.height);
    context.translate(margin, margin);
    context.fillStyle = theme.text;
    context.font = fontOf(unit, family, 15, 600);
    const current = token();
    const of = current === null ? "mean over all tokens" : legible(state.labels()[asking()][current]);
    const way = isMean() ? "" : outward() ? "from " : "to ";
    context.fillText(shortened(context, `${state.base.model} · ${way}${of}`, width), 0, 12 * unit);
    context.translate(0, 40 * unit);
    for (const { copy } of all) {
      saveCopy(context, copy, theme, { rows, labels, widths, first: range[0], unit, plain, family });
      context.translate(0, each);
    }
    savePng(file, `${state.base.model}-text`);
  }

  function saveCopy(context, copy, theme, { rows, labels, widths, first, unit, plain, family }) {
    const values = valuesOf(copy)?.values ?? [];
    const most = Math.max(...strongestPlaces(values, 1).map((i) => values[i]));
    const top = state.selection.scale === "own" || isMean() ? most || 1 : 1;
    context.font = fontOf(unit, family, 13, 600);
    context.fillStyle = theme.text;
    context.textBaseline = "alphabetic";
    context.fillText(`${state.siteName(copy.site)} · ${state.headName(copy.head, copy.site)}`, 0, 0);
    context.font = plain;
    context.textBaseline = "middle";
    for (const { from, to, top: down, height } of rows) {
      let x = 0;
      for (let i = from; i < to; i++) {
        const wide = widths[i - first];
        const share = values[i] >= state.selection.least ? Math.sqrt(values[i] / top) : 0;
        const ground = mixed(theme.background, headColour(copy.head, theme), share);
        context.fillStyle = `rgb(${ground.join()})`;
        context.fillRect(x, down + 10 * unit, wide, height - 4 * unit);
        context.fillStyle = textOn(ground, theme.text);
        context.fillText(legible(labels[i]), x + 5 * unit, down + 10 * unit + (height - 4 * unit) / 2);
        x += wide + 4;
      }
    }
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
    /** @returns {Record<string, string | number>} */
    figure() {
      const current = token();
      return { average: isMean() ? "yes" : "no", ...(current === null ? {} : { token: current }) };
    },
    destroy() {
      observer.disconnect();
      choices.destroy();
      for (const each of shaded) each.text.destroy();
    },
  };
}
