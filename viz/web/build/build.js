// A network as one picture: its parts, opened one in another, down to one multiplication.

import { themeOf } from "../core/colours.js";
import { saveDrawing } from "../core/dom.js";
import { useReply } from "../core/hooks.js";
import { html } from "../core/html.js";
import { PageLink, queryOf } from "../core/link.js";
import { Gone, HttpSource, pathOf, unpack } from "../core/sources.js";
import { Button } from "../parts/controls.js";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { render } from "../vendor/preact.js";
import { Card } from "./card.js";
import { drawingOf } from "./drawing.js";
import { Follow } from "./follow.js";
import { Number } from "./number.js";

/** @import {Source} from "../types" */
/** @import {CardData} from "./card.js" */

/** @typedef {{path: string, card: CardData | null, area: Uint8Array, why: string, isOld?: boolean}} Reply a card, or why there is none */

const NONE = new Uint8Array();

/** @param {HTMLElement} root @param {any} first @param {import("../types").Host} host */
export function mount(root, first, host) {
  root.classList.add("headscope");
  const link = new PageLink(root);
  let asked = "";
  const update = (props) => {
    const start = link.update(props);
    if (start) asked = String(start.selection.open ?? "");
    const record = (open) => link.record(queryOf({ open }, props.defaults), { open });
    const onGone = () => host.trigger("trace_lost", props.trace);
    render(html`<${Page} ...${{ ...props, root, asked, record, onGone }} />`, root);
  };
  update(first);
  return {
    update,
    destroy() {
      link.destroy();
      render(null, root);
    },
  };
}

/** The picture of the network of now. */
function Page({ trace, session, type_size: size = 1, message, ...others }) {
  const source = useMemo(
    () => trace && new HttpSource(`${location.origin}/api/trace/${encodeURIComponent(trace)}/`, session),
    [trace],
  );
  if (!source) return html`<p class="hs-loading" role="status">${message ?? "Building the network …"}</p>`;
  return html`<${Network} ...${{ ...others, source, size }} />`;
}

/**
 * @param {object} props
 * @param {HTMLElement} props.root
 * @param {Source} props.source
 * @param {boolean} [props.busy]
 * @param {string} [props.base] the card that comes first; that of the whole network by default
 * @param {string} props.asked the open cards of the link
 * @param {(open: string) => void} props.record
 * @param {string} [props.revision]
 * @param {number} props.size factor of the size of type
 * @param {() => void} [props.onGone] the server holds the trace no more
 */
export function Network({ root, source, busy = false, base = "", asked, revision = "", size, ...on }) {
  const { record, onGone = () => {} } = on;
  const [open, setOpen] = useState(asked);
  useEffect(() => setOpen(asked), [revision]);
  const { path, cell } = readOf(open);
  const isDefault = open === "";
  const [auto, setAuto] = useState(/** @type {string[]} */ ([])); // a layer and a head, until a reader opens something
  const opened = isDefault ? auto : path;
  const cards = useCards(source, [base, ...opened], onGone);
  const [whole] = cards;
  const last = cards[cards.length - 1];
  const theme = useTheme(root, whole, size);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const width = useWidth(box, root, Boolean(whole.card && theme));
  const choose = (next) => {
    record(next);
    setOpen(next);
  };
  useEffect(() => record(isDefault ? "" : open), [open]);
  const failed = cards.findIndex(({ why }) => why);
  const inSight = failed < 0 ? cards : cards.slice(0, failed + 1);
  useEffect(() => {
    if (!isDefault) return;
    const level = failed > 0 ? failed - 1 : auto.length; // another network may have other parts
    const card = cards[level]?.card;
    const first = level < 2 && card ? firstOf(card) : "";
    if (first && first !== auto[level]) setAuto([...auto.slice(0, level), first]);
  });
  const chosen = failed < 0 ? (cell ?? (isDefault && last.card ? scoreOf(last.card) : null)) : null;
  const waits = !cell && last.isOld; // the first number is of the card of now
  const number = useNumber(source, chosen ? last.path : "", chosen, waits);
  useFunnels(box, [cards.map(({ path: at }) => at).join(), theme, size]);
  if (!whole.card || !theme)
    return html`<p class="hs-loading" role="status">${whole.why || "Building the network …"}</p>`;
  const openAt = (level, address) => {
    const isOpen = opened[level] === address;
    choose([...opened.slice(0, level), ...(isOpen ? [] : [address])].join("/") || "none");
    focusSoon(box, isOpen ? level : level + 1, isOpen ? address : "");
  };
  const cellAt = (level, { matrix, row, col }) =>
    choose([...opened.slice(0, level), `n:${matrix}:${row}:${col}`].join("/"));
  const goTo = (cellOf) => {
    const [address] = cellOf.split("/");
    const boxes = ({ card }) => (card?.items ?? []).flatMap((item) => [item, ...item.inner]);
    const level = cards.findIndex((each) => boxes(each).some(({ opens }) => opens === address));
    choose([...opened.slice(0, Math.max(0, level)), cellOf].join("/"));
  };
  const close = (event) => {
    if (event.key !== "Backspace") return;
    event.preventDefault();
    const rest = chosen ? opened : opened.slice(0, -1);
    choose(rest.join("/") || "none");
    focusSoon(box, rest.length, chosen ? "" : opened.at(-1));
  };
  const closeNumber = () => {
    choose(opened.join("/") || "none");
    focusSoon(box, opened.length);
  };
  const save = (format) => {
    const title = whole.card?.title ?? "network";
    if (!box.current) return;
    const { text, size: extent } = drawingOf(box.current, title);
    saveDrawing(text, extent, title, format);
  };
  return html`
    <div class=${`hs-build ${busy ? "stale" : ""}`} ref=${box} onKeyDown=${close}>
      ${inSight.map(({ path: at, card, area, why }, level) => {
        const cellHere = level === opened.length ? chosen : null;
        const next = opened[level] ?? "";
        return html`
          <section class="hs-build-card" key=${level} data-level=${level} aria-label=${card?.title ?? "Opening"}>
            ${why && html`<${Nothing} why=${why} onClose=${level ? () => openAt(level - 1, at) : null} />`}
            ${
              card &&
              html`<${Card}
                ...${{ source, at, card, area, theme, next }}
                unit=${size}
                width=${width}
                cell=${cellHere}
                onOpen=${(address) => openAt(level, address)}
                onCell=${(each) => cellAt(level, each)}
                onMove=${(address) => choose([...opened.slice(0, level - 1), address].join("/"))}
                onClose=${level ? () => openAt(level - 1, at) : null}
              />`
            }
            ${level === 0 && !base && card?.runs && card.rows.length > 0 && html`<${Follow} source=${source} labels=${card.rows} />`}
          </section>
          ${(next || cellHere) && html`<i class="hs-build-funnel" aria-hidden="true" data-from=${next}></i>`}
        `;
      })}
      ${
        number &&
        html`<section class="hs-build-card" aria-label=${number.title ?? "No number"}>
          ${
            number.why
              ? html`<${Nothing} why=${number.why} onClose=${closeNumber} />`
              : html`<${Number} ...${{ number, theme }} onOpen=${goTo} onClose=${closeNumber} />`
          }
        </section>`
      }
    </div>
    <div class="hs-row">
      <span class="hs-label">Save</span>
      <${Button} text="SVG" title="Save the picture as vectors" onClick=${() => save("svg")} />
      <${Button} text="PNG" title="Save the picture as pixels" onClick=${() => save("png")} />
    </div>
  `;
}

/** Why there is nothing, such as a layer that a smaller network does not have, and the way back. */
function Nothing({ why, onClose }) {
  return html`
    <header class="hs-build-title">
      <p class="hs-doubt" role="status">${why}</p>
      ${onClose && html`<${Button} text="×" title="Close this box" onClick=${onClose} />`}
    </header>
  `;
}

/** The cards and the number of a link: "m:blocks.0/h:0:1/n:scores:6:2"; "none" opens nothing. */
function readOf(open) {
  const parts = open.split("/").filter((part) => part && part !== "none");
  const end = parts.at(-1) ?? "";
  if (!end.startsWith("n:")) return { path: parts, cell: null };
  const [, matrix, row, col] = end.split(":");
  return { path: parts.slice(0, -1), cell: { matrix, row: parseInt(row, 10), col: parseInt(col, 10) } };
}

/** The address that a card opens by itself: its first layer, or its first head. */
function firstOf({ items }) {
  const stack = items.find(({ kind }) => kind === "layers" || kind === "heads");
  const attention = items.find(({ title }) => title === "Attention"); // of a network without layers
  return stack?.inner[0].opens ?? attention?.opens ?? "";
}

/** The number that a head's card opens by itself: the score of its last query and the key before it. */
function scoreOf({ matrices }) {
  const scores = matrices.find(({ name }) => name === "scores");
  if (!scores) return null;
  const [rows, keys] = scores.of;
  return { matrix: "scores", row: rows - 1, col: Math.max(0, Math.min(keys - 1, rows - 1) - 1) };
}

/** Cards by their addresses; those that are there stay until others take their place. */
function useCards(source, addresses, onGone) {
  const [held, setHeld] = useState({ source, known: noReplies(), before: noReplies() });
  const { known, before } = repliesOf(held, source);
  useEffect(() => {
    const ended = new AbortController();
    for (const path of addresses) {
      if (known.has(path)) continue;
      const keep = (reply) => {
        if (ended.signal.aborted) return;
        setHeld((last) => {
          const now = repliesOf(last, source);
          const whole = { path, card: null, area: NONE, why: "", ...reply };
          return { ...now, known: new Map(now.known).set(path, whole) };
        });
      };
      source.get(pathOf("card", path ? { at: path } : {}), { signal: ended.signal, priority: "high" }).then(
        (bytes) => {
          const { header, area } = unpack(bytes);
          const card = /** @type {any} */ (header.base); // a CardData, or why there is none
          keep(card.why ? { why: card.why } : { card, area });
        },
        (error) => (error instanceof Gone ? onGone() : keep({ why: error.message })),
      );
    }
    return () => ended.abort();
  }, [source, addresses.join("/")]);
  return addresses.map((path) => {
    const old = before.get(path) ?? { path, card: null, area: NONE, why: "" };
    return known.get(path) ?? { ...old, isOld: true };
  });
}

const noReplies = () => new Map();

/** The replies of a source; once it is another, those that were there are kept as the ones before it. */
const repliesOf = (held, source) =>
  held.source === source
    ? held
    : { source, known: noReplies(), before: new Map([...held.before, ...held.known]) };

/** A number and its operation, or why there is none; the last one stays until the next is there. */
function useNumber(source, at, cell, waits) {
  const { matrix, row, col } = cell ?? {};
  const number = useReply(source, waits ? undefined : cell && pathOf("cell", { at, matrix, row, col }));
  return cell ? number : null;
}

/** The colours in force, which come with the first card. */
function useTheme(root, { card, area }, size) {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const ended = new AbortController();
    const again = () => setTurn((count) => count + 1);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again, { signal: ended.signal });
    const observer = new MutationObserver(again);
    observer.observe(document.documentElement, { attributes: true, subtree: false });
    return () => {
      ended.abort();
      observer.disconnect();
    };
  }, []);
  return useMemo(
    () => card && themeOf(root, /** @type {any} */ (card).theme, area, size),
    [card, size, turn],
  );
}

/** The width of the picture, in CSS pixels; of what it is in, until it is there. */
function useWidth(box, root, isThere) {
  const [width, setWidth] = useState(root.clientWidth || 900);
  useLayoutEffect(() => {
    const element = box.current ?? root;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [root, isThere]);
  return width;
}

/** Draws each funnel from the box that is open to the card below. */
function useFunnels(box, inputs) {
  useLayoutEffect(() => {
    const draw = () => {
      for (const funnel of box.current?.querySelectorAll(".hs-build-funnel") ?? []) {
        const from = [...(funnel.previousElementSibling?.querySelectorAll("[data-opens]") ?? [])].find(
          (each) => each.dataset.opens === funnel.dataset.from,
        );
        const around = funnel.getBoundingClientRect();
        const at = from?.getBoundingClientRect();
        const share = (x) => `${(100 * (x - around.left)) / (around.width || 1)}%`;
        funnel.style.setProperty("--left", at ? share(at.left) : "40%");
        funnel.style.setProperty("--right", at ? share(at.right) : "60%");
      }
    };
    draw();
    const observer = new ResizeObserver(draw);
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, inputs);
}

/** Brings the focus to the box that was open, or to the first head or box of the card that opens. */
function focusSoon(box, level, was = "", tries = 20) {
  const card = box.current?.querySelector(`[data-level="${level}"]`);
  const boxes = [...(card?.querySelectorAll("[data-opens]") ?? [])];
  const goal =
    boxes.find((each) => each.dataset.opens === was) ??
    card?.querySelector(".hs-build-heads [data-opens]") ??
    card?.querySelector(".hs-build-layers [data-opens]") ??
    card?.querySelector("[data-opens]") ??
    card?.querySelector("canvas[tabindex]");
  if (goal instanceof HTMLElement) goal.focus({ preventScroll: false });
  else if (tries) setTimeout(() => focusSoon(box, level, was, tries - 1), 50);
}

/** @param {{state: import("../core/state.js").State<any>}} props */
export function WhatIsInIt({ state }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [open, setOpen] = useState(false);
  const source = state.client?.source;
  const show = () => {
    setOpen(true);
    dialog.current?.showModal();
  };
  return html`
    <${Button} text="What is in it" title="The network as one picture, down to one multiplication" onClick=${show} />
    <dialog class="hs-build-dialog" ref=${dialog} aria-label="What is in this network" onClose=${() => setOpen(false)}>
      <${Button} text="Close" title="Back to the page" onClick=${() => dialog.current?.close()} />
      ${open && source && html`<${Network} root=${state.root} source=${source} asked="" record=${() => {}} size=${state.props.type_size ?? 1} />`}
    </dialog>
  `;
}
