// A file uploader: files are chosen, dropped anywhere on the page, or pasted. Each is sent to the server
// in one request; Python then receives their digests.

import { element, setAttribute, setText } from "../core/dom.js";
import { asWav } from "./decoding.js";

/** @import {Host} from "../types" */

/**
 * @typedef {object} FilesProps
 * @property {string} label
 * @property {string} hint what is taken
 * @property {boolean} [chip] whether the label names a file that is there, in whose place others go
 * @property {string} [picture] URL of a thumbnail of it
 * @property {string} accept the types that the file dialog offers
 * @property {number} most files at once
 * @property {number} limit MiB of one
 * @property {string} pasted prefix of the media types that are taken even from a paste into a text
 *   field, such as "image/"; "" to ignore pastes
 * @property {string} [session] token for the server's shares of uploads
 * @property {number} [rate] samples a second of the WAV file that a recording of another format becomes
 */

/** @typedef {{name: string, digest: string}} Sent */
/** @typedef {{name: string, reason: string}} Refused */

const MIB = 1 << 20;
const NONE = "The clipboard holds no picture: copy one, then paste it again.";

/**
 * @param {HTMLElement} root
 * @param {FilesProps} props
 * @param {Host} host
 */
export function mount(root, props, host) {
  root.classList.add("hs-control");
  let now = props;
  let uploads = 0; // that have begun
  const chooser = element("input", "", { type: "file", hidden: "" });
  const choose = element("button", "hs-button", { type: "button" }, "Upload");
  const small = element("img", "hs-files-picture", { alt: "" });
  const name = element("bdi", "hs-files-name");
  const hint = element("span", "hs-files-hint");
  const status = element("span", "hs-files-hint", { role: "status" });
  const sign = element("div", "hs-entry-drop", { "aria-hidden": "true" });
  const zone = element("div", "hs-files", { role: "group" }, choose, chooser, hint, status, sign);
  root.replaceChildren(zone);
  sign.hidden = true;

  /** @param {string} words replace the hint, so that nothing moves */
  function report(words) {
    setText(status, words);
    hint.hidden = Boolean(words);
  }

  /** @param {File[]} files */
  async function take(files) {
    const mine = (uploads += 1);
    const few = files.slice(0, now.most);
    report(few.length === 1 ? "Uploading …" : `Uploading ${few.length} files …`);
    const results = await Promise.all(few.map((file) => sent(file, now)));
    if (mine === uploads) report("");
    const refused = results.filter((each) => "reason" in each);
    if (files.length > now.most)
      refused.push({ name: `${files.length} files`, reason: `only the first ${now.most} were taken` });
    const id = `${Date.now()}.${Math.random()}`; // the same files may be sent again
    host.set("files", { id, sent: results.filter((each) => "digest" in each), refused });
  }

  /** @param {ClipboardEvent} event */
  function paste(event) {
    const { pasted } = now;
    if (!pasted) return;
    const files = [...(event.clipboardData?.files ?? [])];
    const typing = isTyping(event.composedPath()[0]);
    report(files.length || typing ? "" : NONE);
    if (!files.length || (typing && !files[0].type.startsWith(pasted))) return;
    event.preventDefault();
    void take(files);
  }

  /** @param {DragEvent} event */
  function over(event) {
    const held = !event.defaultPrevented && event.dataTransfer?.types.includes("Files");
    sign.hidden = !held;
    if (held) event.preventDefault();
  }

  /** @param {DragEvent} event */
  function leave(event) {
    if (!event.relatedTarget) sign.hidden = true; // out of the window
  }

  /** @param {DragEvent} event */
  function drop(event) {
    sign.hidden = true;
    const { dataTransfer } = event;
    if (event.defaultPrevented || !dataTransfer?.files.length) return;
    event.preventDefault();
    void take([...dataTransfer.files]);
  }

  choose.onclick = () => chooser.click();
  chooser.onchange = () => {
    const files = [...(chooser.files ?? [])];
    if (files.length) void take(files);
    chooser.value = ""; // the same file may be chosen again
  };
  const listening = new AbortController();
  const { signal } = listening;
  document.addEventListener("paste", paste, { signal });
  document.addEventListener("dragover", over, { signal });
  document.addEventListener("dragleave", leave, { signal });
  document.addEventListener("drop", drop, { signal });

  /** @param {FilesProps} next */
  function update(next) {
    now = next;
    chooser.multiple = next.most > 1;
    setAttribute(chooser, "accept", next.accept);
    setAttribute(zone, "aria-label", next.label);
    setText(hint, next.hint);
    zone.classList.toggle("hs-files-chip", Boolean(next.chip));
    if (next.chip) {
      setText(name, next.label);
      small.hidden = !next.picture;
      if (next.picture) setAttribute(small, "src", next.picture);
      if (hint.parentElement !== choose) choose.replaceChildren(small, name, hint);
    }
    setText(sign, next.most > 1 ? "Drop them here" : "Drop it here");
  }

  update(props);
  return {
    update,
    destroy() {
      listening.abort();
      root.replaceChildren();
    },
  };
}

/**
 * Sends a file to the server.
 *
 * @param {File} file
 * @param {Pick<FilesProps, "limit" | "session">} props
 * @returns {Promise<Sent | Refused>}
 */
async function upload(file, { limit, session }) {
  const { name, size } = file;
  if (!size) return { name, reason: "the file is empty" };
  if (size > limit * MIB) {
    const large = Math.ceil(size / MIB).toLocaleString("en");
    return { name, reason: `this file has ${large} MB; expected at most ${limit} MB` };
  }
  try {
    const headers = session ? { "X-Headscope-Session": session } : undefined;
    const address = `${location.origin}/api/upload`;
    const response = await fetch(address, { method: "POST", body: file, headers });
    if (response.ok) return { name, digest: (await response.json()).digest };
    return { name, reason: (await response.text()).slice(0, 200) };
  } catch {
    return { name, reason: "could not be sent: is it a folder, or is the server gone?" };
  }
}

/**
 * Sends a file; a recording of another format as the WAV file that the browser decodes it to.
 *
 * @param {File} file
 * @param {FilesProps} props
 * @returns {Promise<Sent | Refused>}
 */
async function sent(file, props) {
  const { limit, rate } = props;
  if (!rate || !file.size || file.size > limit * MIB) return upload(file, props);
  const decoded = await asWav(file, rate);
  return decoded ? upload(decoded, props) : { name: file.name, reason: `${file.name}: expected a recording that this browser plays, which this is not` };
}

/**
 * Whether a paste belongs to an entry.
 *
 * @param {EventTarget | undefined} target
 */
function isTyping(target) {
  return target instanceof HTMLElement && target.matches("input, textarea, [contenteditable]");
}
