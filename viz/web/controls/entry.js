// A text field that sends what is typed as it is typed. It grows with its text, up to a limit, and keeps
// line ends and indentation.

import { element, setAttribute } from "../core/dom.js";
import { throttle } from "../core/throttle.js";
import { headingOf } from "./heading.js";

/** @import {Host} from "../types" */

/**
 * The value counts when the field is mounted; after that the text is the field's own, and a run of
 * Python never changes it, nor the caret.
 *
 * @typedef {object} EntryProps
 * @property {string} label
 * @property {string} value
 * @property {string} [placeholder]
 * @property {boolean} [multiline] Shift and Enter begin a new line
 * @property {number} [live_ms] between two messages, at least
 * @property {string} [help]
 * @property {number} [max_chars]
 * @property {boolean} [disabled]
 * @property {boolean} [bare] without a heading: the label is for screen readers
 */

const SEND_MS = 50;
const MS_PER_CHAR = 0.005; // longer texts are sent less often
const ID = "hs-entry";

/**
 * @param {HTMLElement} root
 * @param {EntryProps} props
 * @param {Host} host
 */
export function mount(root, props, host) {
  root.classList.add("hs-control");
  const { multiline = false, live_ms: pause = 0 } = props;
  const heading = headingOf(ID);
  const field = element("textarea", "hs-entry", {
    ...{ id: ID, rows: "1", dir: "auto", spellcheck: "false", autocomplete: "off" },
    ...{ "aria-multiline": String(multiline) },
  });
  const box = element("div", "hs-entry-box", {}, field);
  root.replaceChildren(heading.box, box);
  const { put, flush, stop } = throttle(
    (/** @type {string} */ text) => host.set("value", text),
    (text) => Math.max(SEND_MS, pause, MS_PER_CHAR * text.length),
  );
  let sent = props.value;
  field.value = props.value;

  function changed() {
    if (!multiline && /[\r\n]/.test(field.value)) unbroken();
    if (field.value !== sent) {
      sent = field.value;
      put(sent); // first: to grow takes a layout
    }
    grow();
  }

  /** One line: what was pasted in several becomes one. */
  function unbroken() {
    const { selectionStart: caret } = field;
    field.value = field.value.replace(/\r?\n|\r/g, " ");
    field.setSelectionRange(caret, caret);
  }

  /** As high as its text, up to the limit of the style sheet. */
  function grow() {
    field.style.height = "auto";
    const { borderTopWidth, borderBottomWidth } = getComputedStyle(field);
    const border = parseFloat(borderTopWidth) + parseFloat(borderBottomWidth);
    field.style.height = `${field.scrollHeight + border}px`;
  }

  field.addEventListener("input", (event) => {
    if (/** @type {InputEvent} */ (event).isComposing) grow();
    else changed();
  });
  field.addEventListener("compositionend", changed);
  field.addEventListener("focus", grow);
  field.addEventListener("blur", flush);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !(multiline && event.shiftKey) && !event.isComposing) {
      event.preventDefault();
      flush();
    }
    // a page's shortcuts do not see that the key goes to a field in here
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
  });

  /** @param {EntryProps} next */
  function arrange({ label, placeholder = "", help = "", max_chars: most, disabled = false, bare }) {
    heading.box.hidden = Boolean(bare);
    box.classList.toggle("hs-entry-bare", Boolean(bare));
    heading.show(label, help);
    setAttribute(field, "aria-label", label);
    setAttribute(field, "placeholder", placeholder);
    field.disabled = disabled;
    if (most === undefined) field.removeAttribute("maxlength");
    else field.maxLength = most;
  }

  arrange(props);
  let wide = 0;
  const observer = new ResizeObserver(() => {
    if (field.offsetWidth !== wide) grow();
    wide = field.offsetWidth;
  });
  observer.observe(field); // whose style may come later than it does
  const ended = new AbortController();
  document.fonts.addEventListener("loadingdone", grow, { signal: ended.signal });
  grow();
  return {
    update: arrange,
    destroy() {
      stop();
      ended.abort();
      observer.disconnect();
      root.replaceChildren();
    },
  };
}
