// A text field that sends what is typed as it is typed. It grows with its text, up to a limit, keeps
// line ends and indentation, and takes the text of a file.

import { element, setAttribute, setText } from "../core/dom.js";
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
 * @property {string} [files] suffixes of the files it takes, such as ".txt,.md"; "" for none
 */

const SEND_MS = 50;
const MS_PER_CHAR = 0.005; // longer texts are sent less often
const LONGEST = 2_000_000; // bytes read of a file
const ID = "hs-entry";

/**
 * @param {HTMLElement} root
 * @param {EntryProps} props
 * @param {Host} host
 */
export function mount(root, props, host) {
  root.classList.add("hs-control");
  const { multiline = false, live_ms: pause = 0, files = "" } = props;
  const heading = headingOf(ID);
  const field = element("textarea", "hs-entry", {
    ...{ id: ID, rows: "1", dir: "auto", spellcheck: "false", autocomplete: "off" },
    ...{ "aria-multiline": String(multiline) },
  });
  const box = element("div", "hs-entry-box", {}, field);
  const said = element("p", "hs-entry-note", { role: "status" });
  root.replaceChildren(heading.box, box, said);
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

  /** What was said of a file is no longer true of a text that is typed. */
  const typed = () => setText(said, "");

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

  field.addEventListener("input", typed);
  field.addEventListener("input", (event) => {
    if (/** @type {InputEvent} */ (event).isComposing) grow();
    else changed();
  });
  field.addEventListener("compositionend", changed);
  field.addEventListener("blur", flush);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !(multiline && event.shiftKey) && !event.isComposing) {
      event.preventDefault();
      flush();
    }
    // a page's shortcuts do not see that the key goes to a field in here
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
  });

  if (files) box.append(fileButton(files, take), dropTarget(box, take));

  /** Takes the text of a file. */
  async function take(file) {
    const suffixes = files.split(",");
    if (!suffixes.some((suffix) => file.name.toLowerCase().endsWith(suffix))) {
      setText(said, `“${file.name}” was not read: expected a text file (${suffixes.join(", ")})`);
      return;
    }
    const text = await file.slice(0, LONGEST).text();
    field.value = text.replace(/\r\n?/g, "\n");
    const cut = file.size > LONGEST ? `, its first ${LONGEST.toLocaleString("en")} bytes` : "";
    setText(said, `Text of “${file.name}”${cut}`);
    changed();
    flush();
  }

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

/** A button that picks a file. */
function fileButton(suffixes, take) {
  const chooser = element("input", "", { type: "file", accept: suffixes, hidden: "" });
  const words = `Open a text file (${suffixes.split(",").join(", ")}), or drop one here`;
  const opener = element("button", "hs-entry-file", { type: "button", title: words }, "File…");
  setAttribute(opener, "aria-label", words);
  opener.onclick = () => chooser.click();
  chooser.onchange = () => {
    const file = chooser.files?.[0];
    if (file) take(file);
    chooser.value = ""; // the same file may be picked again
  };
  return element("span", "", {}, opener, chooser);
}

/** Takes files that are dropped on a part of the page, and shows that it does. */
function dropTarget(place, take) {
  const holdsFile = (event) => Boolean(event.dataTransfer?.types.includes("Files"));
  const sign = element("div", "hs-entry-drop", { "aria-hidden": "true" }, "Drop the file here");
  sign.hidden = true;
  place.addEventListener("dragover", (event) => {
    if (!holdsFile(event)) return;
    event.preventDefault();
    sign.hidden = false;
  });
  place.addEventListener("dragleave", (event) => {
    if (!place.contains(/** @type {Node | null} */ (event.relatedTarget))) sign.hidden = true;
  });
  place.addEventListener("drop", (event) => {
    sign.hidden = true;
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    take(file);
  });
  return sign;
}
