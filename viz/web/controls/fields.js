// Controls with a value: a slider that sends it while it is dragged, and a text field that sends what is typed as it is
// typed, grows with its text, up to a limit, and keeps line ends and indentation; and a button that copies the link.

import { html } from "../core/html.js";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { Heading, mounting, throttle } from "./control.js";

/** @import {Host} from "../types" */

/**
 * The value counts when the slider is mounted; after that it is the slider's own.
 *
 * @typedef {object} SliderProps
 * @property {string} label
 * @property {number} min
 * @property {number} max
 * @property {number} step
 * @property {number} value
 * @property {string} [help]
 */

const SEND_MS = 60;

/** @param {SliderProps & {host: Host}} props */
function Slider({ label, min, max, step, value, help, host }) {
  const valueIn = (/** @type {number} */ wanted) => Math.min(max, Math.max(min, wanted));
  const [chosen, choose] = useState(() => valueIn(value));
  const { put, stop } = useMemo(
    () => throttle((/** @type {number} */ next) => host.set("value", next), SEND_MS),
    [],
  );
  useEffect(() => stop, []);
  const take = (next) => {
    choose(next);
    put(next);
  };
  const now = valueIn(chosen);
  useEffect(() => {
    if (now !== chosen) take(now); // the values have changed
  });
  const text = now.toFixed(String(step).split(".")[1]?.length ?? 0);
  const share = (now - min) / (max - min || 1);
  return html`
    <${Heading} ...${{ label, help }} />
    <div class="hs-slider" style=${{ "--share": String(share) }}>
      <output class="hs-slider-number">${text}</output>
      <input
        type="range"
        ...${{ min, max, step, value: now }}
        aria-label=${label}
        aria-valuetext=${text}
        onInput=${({ currentTarget }) => take(Number(currentTarget.value))}
      />
    </div>
  `;
}

export const mountSlider = mounting(Slider);

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

const TYPED_MS = 50;
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
        (text) => Math.max(TYPED_MS, MS_PER_CHAR * text.length),
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

export const mountEntry = mounting(Entry);

const DONE_MS = 2000;

/** @param {{label: string}} props */
function CopyLink({ label }) {
  const [isCopied, setCopied] = useState(false);
  const [link, setLink] = useState(""); // that is copied by hand
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => {
    const timer = setTimeout(() => setCopied(false), DONE_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  useLayoutEffect(() => field.current?.select(), [link]);
  const copy = () =>
    Promise.resolve(location.href)
      .then((href) => navigator.clipboard.writeText(href))
      .then(() => setCopied(true))
      .catch(() => setLink(location.href)); // without HTTPS the clipboard is closed to pages
  return html`
    <button type="button" class="hs-button hs-copy-link" title=${label} aria-live="polite" onClick=${copy}>
      ${isCopied ? "Copied" : label}
    </button>
    ${link && html`<input class="hs-entry" readonly aria-label="The link" value=${link} ref=${field} />`}
  `;
}

export const mountCopy = mounting(CopyLink);
