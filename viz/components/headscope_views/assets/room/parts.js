// What a room looks like: a strip at the foot of the window, and panels above it. Each part is made
// once and shown anew, so that the keyboard keeps its place.

import { element, setAttribute, setText } from "../core/dom.js";
import { barsOf } from "./following.js";

/** @import {RoomQuestion} from "../types" */
/** @import {Asked} from "../lessons/current_step.js" */

const MOST = 5; // choices
const LEAST = 2;
const USUAL = 4;
const LONGEST_TEXT = 240; // as in viz/api/room_routes.py
const LONGEST_CHOICE = 80;
const COPIED_MS = 2000;
/** @param {number} i */
const letter = (i) => String.fromCharCode(65 + i);

/**
 * A button that says what it does.
 *
 * @param {string} label
 * @param {() => void} action
 * @param {string} [className]
 */
export function button(label, action, className = "") {
  const node = element("button", `hs-button ${className}`.trim(), { type: "button" }, label);
  node.onclick = action;
  return node;
}

/**
 * A line that is read out whenever it changes, and buttons behind it.
 *
 * @param {HTMLElement[]} buttons
 */
export function strip(...buttons) {
  const status = element("p", "hs-room-status", { role: "status" });
  const box = element("div", "hs-room-strip", {}, status, ...buttons);
  return { box, say: (/** @type {string} */ text) => setText(status, text) };
}

/** The link, large enough for the back row, and its QR code. */
export function linkPanel() {
  const link = element("p", "hs-room-link", { dir: "ltr" });
  const hint = element("p", "hs-room-hint", {}, "Open this link to follow the lesson:");
  const copying = button("Copy the link", () => void copy());
  copying.setAttribute("aria-live", "polite");
  const picture = element("img", "hs-room-qr", { alt: "QR code of the link" });
  picture.onload = () => (picture.hidden = false);
  picture.onerror = () => (picture.hidden = true); // the link beside it stays
  const words = element("div", "hs-room-words", {}, hint, link, copying);
  const box = element("section", "hs-room-panel hs-room-address", { "aria-label": "The link" }, words, picture);

  async function copy() {
    try {
      await navigator.clipboard.writeText(link.textContent ?? "");
      setText(copying, "Copied");
      setTimeout(() => setText(copying, "Copy the link"), COPIED_MS);
    } catch {
      getSelection()?.selectAllChildren(link); // the clipboard is closed to pages without HTTPS
      setText(copying, "Selected: press Ctrl or ⌘ and C");
    }
  }

  /**
   * @param {string} text broken after a slash or question mark, if at all
   * @param {string} address of its QR code
   */
  const show = (text, address) => {
    setAttribute(picture, "src", address);
    const parts = text.split(/(?<=[/?])(?!\/)/).flatMap((part) => [part, element("wbr")]);
    setText(link, parts);
  };
  return { box, show };
}

/**
 * For the presenter: a form to ask with, and what was answered.
 *
 * @param {object} actions
 * @param {(text: string, choices: string[]) => void} actions.ask
 * @param {() => void} actions.reveal
 * @param {() => void} actions.dismiss
 * @param {() => Asked | null} actions.onScreen the question of the step that is shown
 */
export function askPanel({ ask, reveal, dismiss, onScreen }) {
  const text = element("input", "hs-entry", {
    type: "text",
    maxlength: String(LONGEST_TEXT),
    placeholder: "Question (may stay empty: ask it aloud)",
    "aria-label": "Question",
  });
  const entries = Array.from({ length: MOST }, (_, i) =>
    element("input", "hs-entry", {
      type: "text",
      maxlength: String(LONGEST_CHOICE),
      placeholder: letter(i),
      "aria-label": `Choice ${letter(i)}`,
    }),
  );
  let count = USUAL;
  const fewer = button("− choice", () => resize(count - 1));
  const more = button("+ choice", () => resize(count + 1));
  const take = button("Take the question on the screen", () => {
    const taken = onScreen();
    if (!taken) return;
    text.value = taken.text.slice(0, LONGEST_TEXT);
    resize(taken.choices.length);
    entries.forEach((entry, i) => (entry.value = (taken.choices[i] ?? "").slice(0, LONGEST_CHOICE)));
    asking.focus();
  });
  const asking = element("button", "hs-button hs-room-main", { type: "submit" }, "Ask");
  const form = element(
    "form",
    "hs-room-form",
    {},
    element("div", "hs-room-row", {}, take),
    text,
    element("div", "hs-room-entries", {}, ...entries),
    element("div", "hs-room-row", {}, asking, fewer, more),
  );
  form.onsubmit = (event) => {
    event.preventDefault();
    const labels = entries.slice(0, count).map((entry, i) => entry.value.trim() || letter(i));
    ask(text.value.trim(), labels);
  };

  const asked = element("p", "hs-room-question");
  const bars = barList();
  const answered = element("p", "hs-room-hint", { role: "status" });
  const revealing = button("Show the results to all", reveal, "hs-room-main");
  const next = button("New question", dismiss);
  const results = element(
    "div",
    "",
    {},
    asked,
    bars.box,
    answered,
    element("div", "hs-room-row", {}, revealing, next),
  );
  const box = element("section", "hs-room-panel", { "aria-label": "Question" }, form, results);

  /** @param {number} to */
  function resize(to) {
    count = to;
    entries.forEach((entry, i) => (entry.hidden = i >= count));
    fewer.disabled = count === LEAST;
    more.disabled = count === MOST;
  }

  /**
   * @param {RoomQuestion | null} question
   * @param {number} followers
   */
  function show(question, followers) {
    form.hidden = question !== null;
    results.hidden = question === null;
    take.hidden = onScreen() === null;
    if (!question) return;
    const counts = question.counts ?? [];
    const all = counts.reduce((sum, each) => sum + each, 0);
    setText(asked, question.text || "Question");
    bars.show(question.choices, counts, null);
    setText(
      answered,
      `${all} answered, ${followers} following${question.revealed ? "; all see this" : ""}`,
    );
    revealing.hidden = question.revealed;
  }

  resize(USUAL);
  return { box, show };
}

/**
 * For a follower: a question, the choices, and what all have answered once it is revealed.
 *
 * @param {(question: number, choice: number) => void} answer
 */
export function answerPanel(answer) {
  const asked = element("p", "hs-room-question", { role: "status" });
  const choices = element("div", "hs-room-choices", { role: "group", "aria-label": "Answers" });
  const bars = barList();
  const hint = element("p", "hs-room-hint", { role: "status" });
  const box = element("section", "hs-room-panel", { "aria-label": "Question" });
  box.append(asked, choices, bars.box, hint);
  let number = 0;

  /** @param {RoomQuestion | null} question */
  function show(question) {
    box.hidden = question === null;
    if (!question) return;
    setText(asked, question.text || "The presenter asks:");
    if (question.number !== number) {
      number = question.number;
      choices.replaceChildren(
        ...question.choices.map((label, i) => {
          const choice = button("", () => answer(number, i), "hs-room-choice");
          choice.append(element("bdi", "", {}, label));
          return choice;
        }),
      );
    }
    [...choices.children].forEach((each, i) =>
      setAttribute(each, "aria-pressed", String(i === question.answer)),
    );
    const { counts, answer: mine } = question;
    choices.hidden = counts !== null;
    bars.box.hidden = counts === null;
    if (counts) bars.show(question.choices, counts, mine);
    const given = "Your answer is in. You may change it until the results are shown.";
    setText(hint, counts ? "" : mine === null ? "One answer each." : given);
  }

  return { box, show };
}

/** Horizontal bars with their counts. */
function barList() {
  const box = element("ul", "hs-room-bars");

  /**
   * @param {string[]} choices
   * @param {number[]} counts
   * @param {number | null} mine the choice given here
   */
  function show(choices, counts, mine) {
    const rows = barsOf(choices, counts).map(({ label, count, percent }, i) => {
      const bar = element("i", "", { "aria-hidden": "true" });
      bar.style.setProperty("--share", String(percent / 100));
      return element(
        "li",
        i === mine ? "hs-room-own" : "",
        {},
        element("bdi", "", {}, label),
        bar,
        element("span", "", {}, `${count} (${percent}\u00a0%)${i === mine ? " · yours" : ""}`),
      );
    });
    box.replaceChildren(...rows);
  }

  return { box, show };
}
