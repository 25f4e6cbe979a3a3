// All heads of all layers as small pictures, the longer side across; the chosen one is framed, arrow keys choose another.

import { contextOf } from "../core/dom.js";
import { html } from "../core/html.js";
import { stepOf } from "../core/keys.js";
import { headName, layerName, siteName } from "../core/labels.js";
import { labelled } from "../painting/layout.js";
import { useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";

/** @import {Base, Head, Selection, Theme} from "../types" */

const GAP = 1; // pixels between pictures
const APART = 5; // before the mean and the largest of a layer's heads
const WIDEST = 1.7; // times its height that a picture may be wide
const LARGEST = 44; // pixels of its height

/** @typedef {{site: number, head: Head}} Spot */

/**
 * @param {Pick<Base, "sites">} base
 * @param {number[]} group indexes of the sites of one kind of attention
 * @param {{wide: number, high: number}} room in pixels
 */
export function layoutOf(base, group, { wide, high }) {
  const most = Math.max(...group.map((site) => base.sites[site].heads));
  const columns = most + 2; // the mean and the largest come last
  const layersAcross = group.length > columns;
  const [across, down] = layersAcross ? [group.length, columns] : [columns, group.length];
  const height = Math.max(3, Math.min(LARGEST, (high - APART) / down - GAP));
  const width = Math.max(3, Math.min((wide - APART) / across - GAP, WIDEST * height));
  const along = (/** @type {number} */ head) => (head >= most ? APART : 0);
  const headAt = (/** @type {number} */ site, /** @type {number} */ column) => {
    if (column >= most) return column === most ? "mean" : "max";
    return column < base.sites[site].heads ? column : null;
  };
  const columnOf = (/** @type {Head} */ head) =>
    typeof head === "number" ? head : most + (head === "mean" ? 0 : 1);
  /** @param {Spot} spot */
  function place({ site, head }) {
    const [row, column] = [group.indexOf(site), columnOf(head)];
    const [x, y] = layersAcross ? [row, column] : [column, row];
    const apart = along(column);
    return {
      x: x * (width + GAP) + (layersAcross ? 0 : apart),
      y: y * (height + GAP) + (layersAcross ? apart : 0),
    };
  }
  /** @type {Spot[]} */
  const spots = group.flatMap((site) =>
    [...Array(columns).keys()]
      .map((column) => headAt(site, column))
      .flatMap((head) => (head === null ? [] : { site, head })),
  );
  return {
    ...{ width, height, layersAcross, spots, place, most },
    size: [
      across * (width + GAP) + (layersAcross ? 0 : APART),
      down * (height + GAP) + (layersAcross ? APART : 0),
    ],
    /** @type {(x: number, y: number) => Spot | null} */
    at(x, y) {
      const inside = (/** @type {Spot} */ spot) => {
        const from = place(spot);
        return x >= from.x && x < from.x + width + GAP && y >= from.y && y < from.y + height + GAP;
      };
      return spots.find(inside) ?? null;
    },
    /** So many rows and columns on. @type {(spot: Spot, step: [number, number]) => Spot} */
    beside({ site, head }, [rows, cols]) {
      const [byLayer, byHead] = layersAcross ? [cols, rows] : [rows, cols];
      const row = group[Math.min(Math.max(0, group.indexOf(site) + byLayer), group.length - 1)];
      const heads = spots.filter((spot) => spot.site === row).map((spot) => spot.head);
      const now = heads.indexOf(head) < 0 ? base.sites[row].heads - 1 : heads.indexOf(head);
      return { site: row, head: heads[Math.min(Math.max(0, now + byHead), heads.length - 1)] };
    },
  };
}

const NAMED = 14; // pixels that a name of a layer or head needs

/** @typedef {{context: CanvasRenderingContext2D, layout: ReturnType<typeof layoutOf>, ratio: number, theme: Theme}} Paper */

/**
 * @param {object} props
 * @param {{base: Base, selection: Selection, select: (change: Partial<Selection>) => void}} props.state
 * @param {Theme} props.theme
 * @param {number[]} props.group indexes of the sites
 * @param {(paper: Paper) => void} props.paint paints all heads; another function where they are others
 * @param {(spot: Spot) => string} [props.sayOf] what is said of the head under the pointer
 */
export function AllHeads({ state, theme, group, paint, sayOf = () => "" }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const body = useRef(/** @type {HTMLElement | null} */ (null));
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const [over, setOver] = useState(/** @type {Spot | null} */ (null));
  const { wide, high } = useRoom(box);
  const { base, selection } = state;
  const layout = useMemo(
    () => (wide ? layoutOf(base, group, { wide, high }) : null),
    [base, group.join(), wide, high],
  );
  const ratio = devicePixelRatio || 1;
  useLayoutEffect(() => {
    if (!canvas.current || !layout) return;
    canvas.current.width = Math.round(layout.size[0] * ratio);
    canvas.current.height = Math.round(layout.size[1] * ratio);
    paint({ context: contextOf(canvas.current), layout, ratio, theme });
  }, [layout, theme, paint, ratio]);
  const spotAt = ({ clientX, clientY }) => {
    const { left, top } = /** @type {HTMLElement} */ (body.current).getBoundingClientRect();
    return layout?.at(clientX - left, clientY - top) ?? null;
  };
  const choose = (event) => {
    const spot = spotAt(event);
    if (spot) state.select(spot);
  };
  const walk = (event) => {
    const step = stepOf(event);
    const next = step && layout?.beside(selection, step);
    if (!next) return;
    event.preventDefault();
    state.select(next);
  };
  const size = layout ? { width: `${layout.size[0]}px`, height: `${layout.size[1]}px` } : {};
  const { heads } = base.sites[selection.site];
  const nameOf = ({ site, head }) => `${siteName(base, site)} · ${headName(base, site, head)}`;
  const count = group.reduce((sum, site) => sum + base.sites[site].heads, 0);
  const plain = `All ${count} heads, layers ${layout?.layersAcross ? "across" : "down"}`;
  const said = over && sayOf(over);
  return html`
    <p class="hs-atlas-name" aria-live="polite">${over ? `${nameOf(over)}${said ? `: ${said}` : ""}` : plain}</p>
    <div class="hs-atlas-grid">
      ${layout && html`<${Names} ...${{ state, layout, group }} />`}
      <div class="hs-atlas-room" ref=${box}>
        <div
          class="hs-body"
          tabindex="0"
          role="group"
          aria-label="All heads. Arrow keys choose another one."
          style=${{ ...size, cursor: over ? "pointer" : "" }}
          ref=${body}
          onKeyDown=${walk}
          onPointerMove=${(event) => setOver(spotAt(event))}
          onPointerLeave=${() => setOver(null)}
          onClick=${choose}
        >
          <canvas
            class="hs-thumbs"
            role="img"
            aria-label=${
              `Attention of every head as small pictures: ${group.length} layers of ${heads} heads, then their mean` +
              ` and largest. Chosen: ${nameOf(selection)}.`
            }
            style=${size}
            ref=${canvas}
          />
          ${layout && over && html`<${Frame} kind="hs-pointed" ...${{ layout, spot: over }} />`}
          ${layout && html`<${Frame} kind="hs-chosen" ...${{ layout, spot: selection }} />`}
        </div>
      </div>
    </div>
  `;
}

/** The room that the pictures have. */
function useRoom(box) {
  const [room, setRoom] = useState({ wide: 0, high: 0 });
  useLayoutEffect(() => {
    const next = { wide: box.current.clientWidth, high: box.current.clientHeight };
    if (next.wide !== room.wide || next.high !== room.high) setRoom(next);
  });
  return room;
}

/** The numbers of layers and heads along the edges, as many as have room; those of the chosen one always. */
function Names({ state, layout, group }) {
  const { base, selection } = state;
  const layers = group.map((site) => ({
    spot: { site, head: 0 },
    text: layerName(base, site),
    on: site === selection.site,
  }));
  const heads = [...Array(layout.most).keys(), "mean", "max"].map((head) => ({
    spot: { site: group[0], head },
    text: head === "mean" ? "m" : head === "max" ? "↑" : String(head),
    on: head === selection.head,
  }));
  const [down, across] = layout.layersAcross ? [heads, layers] : [layers, heads];
  const named = (names, step) => {
    const longest = Math.max(...names.map(({ text }) => text.length));
    const least = step === layout.width ? Math.max(NAMED, 8 * longest) : NAMED;
    const chosen = names.findIndex(({ on }) => on);
    return labelled([0, names.length], step, least, chosen < 0 ? [] : [chosen]).map((i) => names[i]);
  };
  return html`
    <div class="hs-rows" aria-hidden="true">
      ${named(down, layout.height).map(({ spot, text, on }) => {
        const top = `${layout.place(spot).y + layout.height / 2}px`;
        return html`<span class=${on ? "hs-on" : ""} style=${{ top }}>${text}</span>`;
      })}
    </div>
    <div class="hs-columns" aria-hidden="true" style=${{ top: `${layout.size[1]}px` }}>
      ${named(across, layout.width).map(({ spot, text, on }) => {
        const left = `${layout.place(spot).x + layout.width / 2}px`;
        return html`<span class=${on ? "hs-on" : ""} style=${{ left }}>${text}</span>`;
      })}
    </div>
  `;
}

function Frame({ kind, layout, spot }) {
  const { x, y } = layout.place(spot);
  const style = {
    transform: `translate(${x - 2}px, ${y - 2}px)`,
    width: `${layout.width + 4}px`,
    height: `${layout.height + 4}px`,
  };
  return html`<div class=${`hs-frame ${kind}`} style=${style}></div>`;
}
