// A file uploader: files are chosen, dropped anywhere on the page, or pasted. Each is sent to the server
// in one request, a recording of any format that the browser plays as a WAV file; Python then receives their digests.

import { useHandlers } from "../core/hooks.js";
import { html } from "../core/html.js";
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { mounting } from "./control.js";

/** @import {Host} from "../types" */

/**
 * @typedef {object} FilesProps
 * @property {string} label
 * @property {string} hint what is taken
 * @property {string} [picture] URL of a thumbnail of it
 * @property {string} accept the types that the file dialog offers
 * @property {number} most files at once
 * @property {number} limit MiB of one
 * @property {string} pasted prefix of the media types that are taken even from a paste into a text
 *   field, such as "image/"; "" to ignore pastes
 * @property {string} [session] token for the server's shares of uploads
 * @property {number} [rate] samples a second of the WAV file that a recording of another format becomes
 */

const MIB = 1 << 20;
const NONE = "The clipboard holds no picture: copy one, then paste it again.";

/** @param {FilesProps & {host: Host}} props */
function Files({ host, ...props }) {
  const { label, hint, picture, accept, most, pasted } = props;
  const [status, report] = useState(""); // in place of the hint, so that nothing moves
  const [isOver, setOver] = useState(false);
  const uploads = useRef(0); // that have begun
  const chooser = useRef(/** @type {HTMLInputElement | null} */ (null));

  /** @param {File[]} files */
  async function take(files) {
    const mine = (uploads.current += 1);
    const few = files.slice(0, most);
    report(few.length === 1 ? "Uploading …" : `Uploading ${few.length} files …`);
    const results = await Promise.all(few.map((file) => sent(file, props)));
    if (mine === uploads.current) report("");
    const refused = results.filter((each) => "reason" in each);
    if (files.length > most)
      refused.push({ name: `${files.length} files`, reason: `only the first ${most} were taken` });
    const id = `${Date.now()}.${Math.random()}`; // the same files may be sent again
    host.set("files", { id, sent: results.filter((each) => "digest" in each), refused });
  }

  const on = useHandlers({
    paste(/** @type {any} */ event) {
      if (!pasted) return;
      const files = [...(event.clipboardData?.files ?? [])];
      const typing = isTyping(event.composedPath()[0]);
      report(files.length || typing ? "" : NONE);
      if (!files.length || (typing && !files[0].type.startsWith(pasted))) return;
      event.preventDefault();
      void take(files);
    },
    dragover(/** @type {any} */ event) {
      const held = !event.defaultPrevented && event.dataTransfer?.types.includes("Files");
      setOver(Boolean(held));
      if (held) event.preventDefault();
    },
    dragleave(/** @type {any} */ event) {
      if (!event.relatedTarget) setOver(false); // out of the window
    },
    drop(/** @type {any} */ event) {
      setOver(false);
      const { dataTransfer } = event;
      if (event.defaultPrevented || !dataTransfer?.files.length) return;
      event.preventDefault();
      void take([...dataTransfer.files]);
    },
  });
  useEffect(() => {
    const listening = new AbortController();
    const { signal } = listening;
    for (const [name, listener] of Object.entries(on)) document.addEventListener(name, listener, { signal });
    return () => listening.abort();
  }, []);
  const chosen = ({ currentTarget }) => {
    const files = [...(currentTarget.files ?? [])];
    if (files.length) void take(files);
    currentTarget.value = ""; // the same file may be chosen again
  };
  return html`
    <div class="hs-files" role="group" aria-label=${label}>
      <button type="button" class="hs-button" onClick=${() => chooser.current?.click()}>
        ${picture && html`<img class="hs-files-picture" alt="" src=${picture} />`}
        <bdi class="hs-files-name">${label}</bdi>
        ${!status && html`<span class="hs-files-hint">${hint}</span>`}
      </button>
      <input type="file" hidden multiple=${most > 1} accept=${accept} ref=${chooser} onChange=${chosen} />
      <span class="hs-files-hint" role="status">${status}</span>
      ${isOver && html`<div class="hs-entry-drop" aria-hidden="true">${most > 1 ? "Drop them here" : "Drop it here"}</div>`}
    </div>
  `;
}

/** Sends a file to the server. */
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

/** Sends a file; a recording of another format as the WAV file that the browser decodes it to. */
async function sent(file, props) {
  const { limit, rate } = props;
  if (!rate || !file.size || file.size > limit * MIB) return upload(file, props);
  const decoded = await asWav(file, rate);
  return decoded
    ? upload(decoded, props)
    : {
        name: file.name,
        reason: `${file.name}: expected a recording that this browser plays, which this is not`,
      };
}

/** Whether a paste belongs to an entry. */
function isTyping(target) {
  return target instanceof HTMLElement && target.matches("input, textarea, [contenteditable]");
}

export const mount = mounting(Files);

const HEADER = 44; // bytes

/**
 * A WAV file as it is; a recording of another format as a WAV file of one channel.
 *
 * @param {File} file
 * @param {number} rate samples a second of what is decoded
 * @returns {Promise<File | null>} null for one that the browser cannot decode
 */
async function asWav(file, rate) {
  const bytes = await file.arrayBuffer();
  if (isWav(new Uint8Array(bytes))) return file;
  try {
    const sound = await new OfflineAudioContext(1, 1, rate).decodeAudioData(bytes);
    const channels = Array.from({ length: sound.numberOfChannels }, (_, i) => sound.getChannelData(i));
    return new File([wavOf(mixed(channels), rate)], file.name, { type: "audio/wav" });
  } catch {
    return null;
  }
}

/** Whether a file begins as WAV files do. @param {Uint8Array} bytes */
export function isWav(bytes) {
  const text = String.fromCharCode(...bytes.subarray(0, 12));
  return (text.startsWith("RIFF") || text.startsWith("RIFX")) && text.endsWith("WAVE");
}

/** The mean of channels. @param {Float32Array[]} channels */
export function mixed(channels) {
  const mean = new Float32Array(channels[0]?.length ?? 0);
  for (const channel of channels) channel.forEach((value, i) => (mean[i] += value / channels.length));
  return mean;
}

/**
 * A WAV file of 16-bit samples.
 *
 * @param {Float32Array} samples from −1 to 1
 * @param {number} rate
 */
export function wavOf(samples, rate) {
  const bytes = new DataView(new ArrayBuffer(HEADER + 2 * samples.length));
  /** @type {(at: number, text: string) => void} */
  const write = (at, text) => [...text].forEach((letter, i) => bytes.setUint8(at + i, letter.charCodeAt(0)));
  write(0, "RIFF");
  bytes.setUint32(4, HEADER - 8 + 2 * samples.length, true);
  write(8, "WAVEfmt ");
  bytes.setUint32(16, 16, true);
  bytes.setUint16(20, 1, true);
  bytes.setUint16(22, 1, true);
  bytes.setUint32(24, rate, true);
  bytes.setUint32(28, 2 * rate, true);
  bytes.setUint16(32, 2, true);
  bytes.setUint16(34, 16, true);
  write(36, "data");
  bytes.setUint32(40, 2 * samples.length, true);
  samples.forEach((value, i) => {
    const inside = Math.min(1, Math.max(-1, value));
    bytes.setInt16(HEADER + 2 * i, Math.round(inside * 32767), true);
  });
  return bytes.buffer;
}
