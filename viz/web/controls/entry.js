// A text field that sends what is typed as it is typed. It grows with its text, up to a limit, and keeps
// line ends and indentation.

import { html } from "../core/html.js";
import { Heading, mounting, throttle } from "./control.js";
import { useEffect, useLayoutEffect, useMemo, useRef } from "../vendor/hooks.js";

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
 * @property {boolean} [bare] without a heading: the label is for screen readers
 */

const SEND_MS = 50;
const MS_PER_CHAR = 0.005; // longer texts are sent less often
const ID = "hs-entry";

/** @param {EntryProps & {host: Host}} props */
function Entry({ value, host, multiline = false, ...props }) {
  const { label, placeholder = "", bare = false } = props;
  const box = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const sent = useRef(value);
  const { put, flush, stop } = useMemo(
    () =>
      throttle(
        (/** @type {string} */ text) => host.set("value", text),
        (text) => Math.max(SEND_MS, MS_PER_CHAR * text.length),
      ),
    [],
  );
  useLayoutEffect(() => {
    const field = /** @type {HTMLTextAreaElement} */ (box.current);
    field.value = value;
    const observer = new ResizeObserver(() => grow(field)); // its style may come later than it does
    observer.observe(/** @type {HTMLElement} */ (field.parentElement));
    const ended = new AbortController();
    document.fonts.addEventListener("loadingdone", () => grow(field), { signal: ended.signal });
    return () => {
      observer.disconnect();
      ended.abort();
    };
  }, []);
  useEffect(() => stop, []);
  const changed = ({ currentTarget: field }) => {
    if (!multiline && /[\r\n]/.test(field.value)) unbroken(field);
    if (field.value !== sent.current) {
      sent.current = field.value;
      put(field.value); // first: to grow takes a layout
    }
    grow(field);
  };
  const press = (event) => {
    if (event.key === "Enter" && !(multiline && event.shiftKey) && !event.isComposing) {
      event.preventDefault();
      flush();
    }
    // a page's shortcuts do not see that the key goes to a field in here
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
  };
  return html`
    ${!bare && html`<${Heading} ...${{ label, of: ID }} />`}
    <div class=${bare ? "hs-entry-box hs-entry-bare" : "hs-entry-box"}>
      <textarea
        class="hs-entry"
        id=${ID}
        rows="1"
        dir="auto"
        spellcheck="false"
        autocomplete="off"
        aria-multiline=${String(multiline)}
        aria-label=${label}
        placeholder=${placeholder}
        ref=${box}
        onInput=${(event) => (event.isComposing ? grow(event.currentTarget) : changed(event))}
        onCompositionEnd=${changed}
        onFocus=${({ currentTarget }) => grow(currentTarget)}
        onBlur=${flush}
        onKeyDown=${press}
      ></textarea>
    </div>
  `;
}

/** One line: what was pasted in several becomes one. */
function unbroken(field) {
  const { selectionStart: caret } = field;
  field.value = field.value.replace(/\r?\n|\r/g, " ");
  field.setSelectionRange(caret, caret);
}

/** As high as its text, up to the limit of the style sheet. */
function grow(field) {
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`;
}

export const mount = mounting(Entry);
