// The picture with its numbered patches and one head's weights over it. Point at a patch, or walk
// over them with the arrow keys: all other panels follow.

import { button } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { element, markPainted, setAttribute, setText } from "../core/dom.js";
import { nearlyUniform } from "../core/flatness.js";
import { capital } from "../core/labels.js";
import { allHeads, saveMenu } from "../core/save.js";
import { tidy } from "../core/overlay.js";
import { ratioFor, savePicture } from "../core/picture_file.js";
import { groundOf } from "./ground.js";
import { pointing } from "./pointing.js";
import { regionOf } from "./region.js";
import { legendOf, massBarOf, paintScale } from "./scale.js";
import { fitted, spaceOf } from "./space.js";
import { stackOf } from "./stack.js";
import { nameOf, theToken, withoutWords } from "./words.js";

/** @import {Theme} from "../types" */
/** @import {Space} from "./space.js" */
/** @import {ImageState} from "./state.js" */

const DARK = 0.12; // of the scale: below it nothing stands out from the ground
const DOUBT =
  "A large weight says where information may come from, not that the network saw what is there.";

/**
 * @param {ImageState} state
 * @param {HTMLElement} parent
 * @param {((text: string) => void) | null} [edit] makes an edit; null where none can be made
 */
export function pictureOf(state, parent, edit = null) {
  const sentence = element("p", "hs-sentence");
  const prefix = element("div", "hs-prefix", {
    role: "group",
    "aria-label": "Tokens without a position",
  });
  const stack = stackOf(state);
  const { photo } = stack;
  const wait = element("div", "hs-wait");
  const stage = element("div", "hs-stage", {}, photo, wait);
  const legend = legendOf(state);
  const mass = massBarOf(state);
  const dark = element("p", "hs-dark");
  const brighter = button("Use the shared scale", "From 0 to the largest weight of any head for this token", () =>
    state.select({ scale: "layer" }),
  );
  const darkWords = element("span");
  dark.append(darkWords, " ", brighter);
  dark.hidden = true;
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const bare = button("Hide weights", "Show the picture alone", () => {
    plain = !plain;
    state.changed();
  });
  bare.removeAttribute("aria-label");
  const keep = saveMenu(state.view, {
    form: () => "image",
    query: () => {
      const { site, head, scale, direction, sinks, outliers } = state.selection;
      /** @type {Record<string, string>} */
      const hidden = sinks === "shown" ? {} : { sinks, outliers };
      const { ground, paint, opacity, token } = state.selection;
      return { site, head, scale, direction, ground, paint, opacity, token: token ?? 0, ...hidden };
    },
    picture: save,
    others: () => [...allHeads("image", state.site().heads), ...sideBySide(state)],
    page: () => besideIt(state),
  });
  const ground = groundOf(state);
  ground.box.hidden = Boolean(state.leader);
  const heading = element("h3", "hs-heading");
  const lead = element("div", "hs-row", {}, heading, element("span", "hs-spring"), ground.box, bare, keep);
  const doubt = element("p", "hs-doubt", {}, DOUBT);
  const below = [legend.canvas, dark, ...mass.parts, read, doubt];
  const section = element("section", "hs-section", {}, lead, sentence, prefix, stage, ...below);
  parent.append(section);
  /** @type {HTMLButtonElement[]} */
  let chips = [];
  /** @type {Space | null} what the page gives */
  let space = null;
  /** @type {{wide: number, tall: number, unit: number, family: string} | null} of the picture */
  let size = null;
  /** @type {Theme | null} */
  let colours = null;
  const described = changes();
  let count = 0;
  let plain = false;

  // ---- pointing and walking

  const { tokenAt, walk } = pointing(state, photo);
  const region = regionOf(state, photo, stage, tokenAt, edit);

  function buildPrefix() {
    const { prefix: many, query_labels: labels } = state.base;
    const names = labels.slice(0, many);
    if (chips.length === many && chips.every((chip, i) => chip.dataset.name === names[i])) return;
    chips = names.map((label, token) => {
      const share = element("span", "hs-muted");
      const chip = element("button", "hs-chip", { type: "button" }, `${label} `, share);
      chip.dataset.name = label;
      chip.onclick = () => state.select({ token });
      chip.onpointerenter = (event) => {
        if (event.pointerType === "mouse") state.pointAt(token);
      };
      chip.onpointerleave = () => state.pointAt(null);
      chip.onkeydown = walk;
      return chip;
    });
    prefix.replaceChildren(...chips);
    prefix.hidden = !many;
  }

  // ---- drawing

  function measure() {
    space = spaceOf(section, stage);
  }

  function render(theme) {
    colours = theme;
    setText(heading, state.view.props.title || "One head over the picture");
    ground.show();
    const { bitmap } = state;
    const rows = state.complete ? state.rows() : null;
    if (space?.wide && bitmap && rows) {
      size = fitted(space, bitmap);
      const { site, head, direction, scale, paint } = state.selection;
      const redrawn = stack.render(bitmap, rows, size, plain);
      if (redrawn) region.show();
      const settings = [site, head, direction, scale, paint, theme, plain, state.token(), state.hidden()];
      const changed = described(rows, state.base, ...settings);
      if (redrawn || changed) {
        const top = state.topOf(rows.heads[state.headIndex]);
        legend.canvas.hidden = plain || (paint === "mask" && !state.difference); // without colours
        legend.render(size, theme, top);
        mass.render(theme, rows);
        warn(rows, top);
        count += 1;
        if (!state.leader) {
          const root = /** @type {HTMLElement} */ (section.closest(".headscope"));
          root.dataset.token = String(state.token());
          markPainted(section);
        }
      }
      if (changed) describe(rows);
    }
    status();
  }

  /**
   * Says so where weights are nearly equal, where the scale ends at a percentile, or where it leaves
   * nothing to see; then it offers one that does.
   */
  function warn(rows, top) {
    const first = state.base.prefix;
    const values = rows.heads[state.headIndex];
    const largest = state.largest(values);
    const isDark = !state.difference && state.selection.scale === "fixed" && largest / top < DARK;
    const even = state.selection.paint !== "mask" && !state.difference && nearlyUniform(values, first);
    const { beside } = state.sharedTop();
    dark.hidden = plain || !(isDark || even || beside);
    brighter.hidden = !isDark;
    const least = values.subarray(first).reduce((a, b) => Math.min(a, b), 1);
    const range = `each patch has ${tidy(least)} to ${tidy(largest)}`;
    setText(
      darkWords,
      isDark
        ? `All dark on the scale 0 to 1: the largest weight is ${tidy(largest)}.`
        : even
          ? `Nearly uniform, so the colours are faint: ${range}.`
          : `The colours end at the 99th percentile, ${tidy(top)}: one patch takes most of a head’s weight.`,
    );
  }

  function save() {
    const rows = state.rows();
    if (!state.bitmap || !rows || !size || !colours) return;
    const picture = stack.flatten(state.bitmap, size, ratioFor(size), plain);
    const { grid, patch } = state.base;
    const caption = plain
      ? `The picture as the network reads it: ${grid[0]} × ${grid[1]} patches of` +
        ` ${patch[0]} × ${patch[1]} pixels.`
      : (sentence.textContent ?? "");
    const top = state.topOf(rows.heads[state.headIndex]);
    const { model, note } = state.base;
    const coloured = !plain && state.selection.paint !== "mask";
    savePicture(picture, size, {
      lines: [model, caption, plain ? "" : note],
      theme: colours,
      name: plain ? "image-picture-only" : `image-layer-${state.site().layer}-head-${state.selection.head}`,
      scale: coloured ? (context, look) => paintScale(context, look, state, top) : null,
    });
  }

  // ---- words

  function describe(rows) {
    const { direction, head } = state.selection;
    const name = theToken(state, state.token());
    const which = capital(`${state.siteName()}, ${state.headName(head)}`);
    const verb = direction === "in" ? `who looks at ${name}` : `where ${name} looks`;
    const mask = state.selection.paint === "mask";
    const without = withoutWords(state, rows.exact);
    if (state.difference) {
      const said = rows.heads[state.headIndex].some(Boolean)
        ? "Orange = more weight, blue = less."
        : "Nothing here: edits of values act on later layers.";
      setText(sentence, `${which}: what the edits changed in ${verb}. ${said}`);
    }
    else if (plain) setText(sentence, `The picture alone: the weights of ${state.siteName()}, ${state.headName(head)}, are hidden.`);
    else setText(sentence, `${which}: ${verb}. ${mask ? maskOf(rows) : "Brighter = more weight."}${without}`);
    setText(read, mostOf(rows));
    buildPrefix();
    shareOut(rows);
    const { grid, model, note } = state.base;
    const { title } = state.view.props;
    setAttribute(
      photo,
      "aria-label",
      `${title ? `${title}: picture` : "Picture"} of ${grid[0]} × ${grid[1]} patches with the weights of ${state.siteName()}, ` +
        `${state.headName()}, ${model}${note ? ` (${note})` : ""}. ` +
        `Arrow keys choose a patch${state.view.props.edits ? ", with Shift several" : ""}; Home the first token.`,
    );
  }

  /** What each token without a position gets, or gives, beside its name. */
  function shareOut(rows) {
    const values = rows.whole[state.headIndex];
    const share = state.axis === "query" && state.selection.head !== "max";
    chips.forEach((chip, i) => {
      const text = share ? `${(100 * values[i]).toFixed(1)}\u00a0%` : values[i].toFixed(3);
      const sign = !rows.exact ? "≈ " : state.difference && values[i] > 0 ? "+" : "";
      setText(/** @type {HTMLElement} */ (chip.lastElementChild), `${sign}${text}`);
    });
  }

  function maskOf(rows) {
    const mask = state.mask(rows.heads[state.headIndex]);
    const kept = mask.filter(Boolean).length;
    return `The brightest ${kept} of ${mask.length} patches hold 60\u00a0% of the weight on patches.`;
  }

  function mostOf(rows) {
    const values = rows.heads[state.headIndex];
    let best = state.base.prefix;
    for (let i = best; i < values.length; i++)
      if (Math.abs(values[i]) > Math.abs(values[best])) best = i;
    const sign = rows.exact ? "" : "≈ ";
    const largest = rows.factor > 1 ? "a patch" : nameOf(state, best);
    const out = state.axis === "query";
    if (state.difference) {
      const change = `${values[best] > 0 ? "+" : ""}${values[best].toFixed(5)}`;
      return `${capital(nameOf(state, state.token()))}: largest change ${out ? "to" : "from"} ${largest}, ${change}`;
    }
    const verb = out ? "most to" : "most from";
    const name = capital(nameOf(state, state.token()));
    return `${name}: ${verb} ${largest}, ${sign}${values[best].toFixed(5)}`;
  }

  function status() {
    const missing = !state.complete;
    stage.classList.toggle("hs-dim", missing);
    wait.hidden = !missing || Boolean(count && state.rows());
    if (missing)
      setText(wait, state.view.remote ? `Fetching ${state.siteName()} …` : "Not in this file");
    setAttribute(bare, "aria-pressed", String(plain));
    chips.forEach((chip, i) => {
      chip.classList.toggle("hs-current", i === state.token());
      chip.classList.toggle("hs-reached-token", state.reached()?.some(([from, to]) => from <= i && i < to) ?? false);
      setAttribute(chip, "aria-pressed", String(i === (state.selection.token ?? 0)));
    });
  }

  return { measure, render };
}

/** What the server is told of the second picture; null without one. */
function besideIt(state) {
  const { second, title = "" } = state.view.props;
  const peer = state.leader || !second ? null : state.peer;
  if (!peer?.view.baseOrNull || !second) return null;
  const { site, head, token } = peer.selection;
  const place = { second_site: site, second_head: head, second_token: token ?? 0 };
  return { second: peer.trace, ...place, label: title, second_label: second.title };
}

/** The picture before and after the edits, and beside the second one. */
function sideBySide(state) {
  const { edited } = state.view.props;
  const both = besideIt(state);
  const formats = ["SVG", "PDF", "PNG"];
  const title = "Pictures in a row, each with title and caption";
  return [
    ...(edited && !state.leader ? [{ form: "image", name: "Before, after, difference", title, formats, query: { both: "edits" } }] : []),
    ...(both ? [{ form: "image", name: "Both pictures", title, formats, query: { ...both, both: "second" } }] : []),
  ];
}
