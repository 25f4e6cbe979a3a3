// The last states of the patches: their principal components as colours, and how like the chosen
// patch each one is.

import { button, switchOf } from "../core/bar.js";
import { changes } from "../core/changes.js";
import { element, markPainted, setAttribute, setText } from "../core/dom.js";
import { capital } from "../core/labels.js";
import { colourPatches, fit, signedVeilOf } from "../core/overlay.js";
import { saveMenu } from "../core/save.js";
import { pathOf } from "../core/sources.js";
import { ratioFor, savePicture } from "../core/picture_file.js";
import { number } from "../methods/methods.js";
import { groundOf } from "./ground.js";
import { overPicture } from "./over_picture.js";
import { pointing } from "./pointing.js";
import { HIGH, paintRamp } from "./scale.js";
import { fitted, spaceOf } from "./space.js";
import { nameOf, shortName } from "./words.js";

/** @import {Options, PatchComponents, Theme} from "../types" */
/** @import {Space} from "./space.js" */
/** @import {ImageState} from "./state.js" */

const COLOURED = 230; // opacity of a patch's colour, of 255
const DARK = 200; // of the black over those that have none
const FARTHEST = 2.5; // standard deviations
/** @type {[Options["foreground"], string, string][]} */
const SIDES = [
  ["above", "Above", "Patches whose first component is above the threshold"],
  ["below", "Below", "Patches whose first component is below the threshold"],
  ["all", "All patches", "Every patch, by the components of all of them"],
];
const COMPONENTS =
  "The last hidden states of the patches as colours: their first three principal components are red, green and blue." +
  " The first component of all patches separates the object from its background.";
const LIKENESS = "The cosine of each patch’s last hidden state and that of the framed one. Click another patch, or walk with the arrow keys.";
const DOUBTS = [
  "Equal colours mean similar features, not one object; which side of which threshold is the object is for you to say.",
  "Similar features are not yet one object: patches of one texture are alike as well.",
];

/**
 * @param {ImageState} state
 * @param {HTMLElement} parent
 */
export function featuresOf(state, parent) {
  const sides = SIDES.map(([foreground, text, title]) => button(text, title, () => state.select({ foreground })));
  for (const item of sides) item.removeAttribute("aria-label");
  const slider = element("input", "hs-threshold", {
    ...{ type: "range", min: String(-FARTHEST), max: String(FARTHEST), step: "0.25" },
    "aria-label": "Threshold of the first component, in standard deviations",
    title: "Threshold of the first component, in its standard deviations over all patches",
  });
  slider.oninput = () => state.select({ deviations: Number(slider.value) });
  const amount = element("output", "hs-count");
  const limit = element("label", "hs-label", {}, element("span", "", {}, "threshold"), " ", slider, amount);
  const coloured = element("span", "hs-label", {}, "coloured");
  const keep = saveMenu(state.view, {
    form: () => "features",
    query: () => {
      const { site, head, foreground, deviations } = state.selection;
      return { site, head, foreground, deviations, token: chosenIn(state) };
    },
    picture: () => panels.forEach((panel) => panel.save()),
  });
  const ground = groundOf(state);
  const choices = element("div", "hs-row", {}, coloured, switchOf("Coloured patches", ...sides), limit, element("span", "hs-spring"), ground.box, keep);
  const parts = element("div", "hs-model-parts hs-over-parts hs-two");
  const section = element("section", "hs-section hs-model", { "aria-label": "Features of the patches" }, choices, parts);
  parent.append(section);
  const panels = [componentsOf(state, parts), likenessOf(state, parts)];

  return {
    measure() {
      if (!section.hidden) for (const panel of panels) panel.measure();
    },
    /** @param {Theme} theme */
    render(theme) {
      const { form, foreground, deviations } = state.selection;
      section.hidden = form !== "features";
      if (section.hidden) return;
      ground.show();
      sides.forEach((item, i) => item.setAttribute("aria-pressed", String(SIDES[i][0] === foreground)));
      limit.hidden = foreground === "all";
      slider.value = String(deviations);
      setText(amount, `${deviations} σ`);
      for (const panel of panels) panel.render(theme);
    },
  };
}

/**
 * The patch that others are compared with: the chosen one, else the middle one.
 *
 * @param {ImageState} state
 */
function chosenIn({ base: { prefix, grid }, selection: { token } }) {
  const middle = prefix + Math.floor(grid[0] / 2) * grid[1] + Math.floor(grid[1] / 2);
  return token === null || token < prefix ? middle : token;
}

/**
 * A picture under a title, with what it shows below it.
 *
 * @param {ImageState} state
 * @param {HTMLElement} parent
 * @param {string} name of a saved file
 * @param {string} says
 * @param {string} doubts
 */
function frameOf(state, parent, name, says, doubts) {
  const title = element("h3", "hs-heading");
  const picture = overPicture(state);
  pointing(state, picture.photo);
  const wait = element("div", "hs-wait", { role: "status" });
  const stage = element("div", "hs-stage", {}, picture.photo, wait);
  const scale = element("canvas", "hs-scale", { "aria-hidden": "true" });
  const read = element("p", "hs-read", { "aria-live": "polite" });
  const sentence = element("p", "hs-sentence", {}, says);
  const section = element("section", "hs-section", {}, title, stage, scale, read, sentence, element("p", "hs-doubt", {}, doubts));
  scale.hidden = true;
  parent.append(section);
  /** @type {Space | null} */
  let space = null;
  /** @type {(() => void) | null} */
  let save = null;

  return {
    measure() {
      space = spaceOf(section, stage);
    },
    save: () => save?.(),
    scale,
    /** @param {string} text @param {boolean} muted */
    say(text, muted) {
      read.classList.toggle("hs-muted", muted);
      setText(read, text);
    },
    /**
     * Says why there is nothing, or that it is on its way.
     *
     * @param {string} said
     */
    nothing(said) {
      wait.hidden = false;
      setText(wait, said);
      stage.classList.toggle("hs-dim", Boolean(save));
    },
    /**
     * @param {string} heading
     * @param {(pixels: Uint32Array) => void} paint
     * @param {{coloured: boolean, framed?: number, key: unknown[], theme: Theme, ramp: Ramp | null}} how
     */
    draw(heading, paint, { coloured, framed, key, theme, ramp }) {
      wait.hidden = true;
      stage.classList.remove("hs-dim");
      setText(title, heading);
      setAttribute(picture.photo, "aria-label", `${heading}, ${state.base.model}. Arrow keys choose a patch.`);
      const { bitmap } = state;
      if (!bitmap || !space?.wide) return null;
      const size = fitted(space, bitmap);
      if (picture.render(bitmap, size, { paint, coloured, framed }, key)) markPainted(picture.photo);
      save = () =>
        savePicture(picture.flatten(bitmap, size, ratioFor(size), { coloured }), size, {
          lines: [state.base.model, heading, state.base.note],
          theme,
          name: `image-${name}`,
          scale: ramp && ((context, look) => paintRamp(context, look, ...ramp)),
        });
      return size;
    },
  };
}

/** @typedef {[Uint8Array, (share: number) => string, string]} Ramp colours, numbers and words of a scale */

/**
 * @param {ImageState} state
 * @param {HTMLElement} parent
 */
function componentsOf(state, parent) {
  const frame = frameOf(state, parent, "components", COMPONENTS, DOUBTS[0]);
  return {
    ...frame,
    /** @param {Theme} theme */
    render(theme) {
      const { foreground, deviations } = state.selection;
      const path = pathOf("components", { foreground, deviations });
      const answer = /** @type {PatchComponents | {why: string} | null} */ (state.view.answer("components", path));
      if (!answer || "why" in answer)
        return frame.nothing(answer ? capital(answer.why) : state.waitingFor("components", "Computing"));
      const { colours, foreground: kept, explained, kept: many, threshold } = answer;
      /** @param {Uint32Array} pixels */
      const paint = (pixels) => {
        for (let i = 0; i < kept.length; i++) {
          const alpha = kept[i] ? COLOURED : DARK;
          pixels[i] = ((alpha << 24) | (colours[3 * i + 2] << 16) | (colours[3 * i + 1] << 8) | colours[3 * i]) >>> 0;
        }
      };
      const side = foreground === "all" ? "" : ` ${foreground} ${number(threshold)}`;
      const shares = explained.map((share) => `${(100 * share).toFixed(0)}\u00a0%`).join(", ");
      const heading = `Features: ${many} of ${kept.length} patches${side}, ${shares} of their variance`;
      frame.draw(heading, paint, { coloured: true, framed: -1, key: [answer], theme, ramp: null });
      const at = state.pointed;
      const patch = at === null ? -1 : at - state.base.prefix;
      if (at === null || patch < 0) return frame.say("Point at a patch to read its colour.", true);
      const levels = colours.slice(3 * patch, 3 * patch + 3);
      frame.say(`${capital(nameOf(state, at))}: ${kept[patch] ? `red ${levels[0]}, green ${levels[1]}, blue ${levels[2]} of 255` : "background"}`, false);
    },
  };
}

/**
 * @param {ImageState} state
 * @param {HTMLElement} parent
 */
function likenessOf(state, parent) {
  const frame = frameOf(state, parent, "similarity", LIKENESS, DOUBTS[1]);
  const stale = changes();
  return {
    ...frame,
    /** @param {Theme} theme */
    render(theme) {
      const token = chosenIn(state);
      const answer = /** @type {{values: number[]} | {why: string} | null} */ (
        state.view.answer("similar", pathOf("similar", { token }))
      );
      if (!answer || "why" in answer)
        return frame.nothing(answer ? capital(answer.why) : state.waitingFor("similar", "Computing"));
      const { base, bothWays } = state;
      const values = new Float32Array(base.prefix + answer.values.length);
      values.set(answer.values, base.prefix);
      const table = signedVeilOf(bothWays);
      /** @param {Uint32Array} pixels */
      const paint = (pixels) => colourPatches(pixels, { stride: base.grid[1] }, values, { base, table, signed: true }, 1, 1);
      /** @type {Ramp} */
      const ramp = [bothWays, (share) => COSINES[Math.round(4 * share)], "cosine"];
      const heading = `Like ${shortName(state, token)}`;
      const size = frame.draw(heading, paint, { coloured: false, framed: token, key: [answer], theme, ramp });
      if (size && stale(size.wide, size.unit, devicePixelRatio, theme)) {
        frame.scale.hidden = false;
        const context = fit(frame.scale, size.wide, HIGH * size.unit);
        context.clearRect(0, 0, size.wide, HIGH * size.unit);
        paintRamp(context, { ...size, colour: theme.muted }, ...ramp);
      }
      const at = state.pointed;
      if (at === null || at < base.prefix) return frame.say("Point at a patch to read its cosine; click to compare with it.", true);
      frame.say(`${capital(nameOf(state, at))}: ${values[at].toFixed(3)}`, false);
    },
  };
}

const COSINES = ["−1", "−0.25", "0", "+0.25", "+1"]; // the square root on both sides of 0
