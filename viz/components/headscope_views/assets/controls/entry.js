// A text field that sends what is typed as it is typed.

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
 * @property {boolean} [multiline] Enter begins a new line
 * @property {number} [live_ms] between two messages, at least
 * @property {string} [help]
 * @property {number} [max_chars]
 * @property {boolean} [disabled]
 */

const SEND_MS = 50;
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
  root.replaceChildren(heading.box, field);
  const ms = Math.max(SEND_MS, pause);
  const { put, flush, stop } = throttle(
    (/** @type {string} */ text) => host.set("value", text),
    ms,
  );
  let sent = props.value;
  field.value = props.value;

  function changed() {
    if (!multiline && /[\r\n]/.test(field.value)) unbroken();
    grow();
    if (field.value === sent) return;
    sent = field.value;
    put(sent);
  }

  /** One line: what was pasted in several becomes one. */
  function unbroken() {
    const { selectionStart: caret } = field;
    field.value = field.value.replace(/\r?\n|\r/g, " ");
    field.setSelectionRange(caret, caret);
  }

  /** As high as its text. */
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
  field.addEventListener("blur", flush);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !multiline && !event.isComposing) {
      event.preventDefault();
      flush();
    }
    // a page's shortcuts do not see that the key goes to a field in here
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
  });

  /** @param {EntryProps} next */
  function arrange({ label, placeholder = "", help = "", max_chars: most, disabled = false }) {
    heading.show(label, help);
    setAttribute(field, "placeholder", placeholder);
    field.disabled = disabled;
    if (most === undefined) field.removeAttribute("maxlength");
    else field.maxLength = most;
  }

  arrange(props);
  let wide = 0;
  const observer = new ResizeObserver(() => {
    if (root.clientWidth !== wide) grow();
    wide = root.clientWidth;
  });
  observer.observe(root);
  grow();
  return {
    update: arrange,
    destroy() {
      stop();
      observer.disconnect();
      root.replaceChildren();
    },
  };
}
