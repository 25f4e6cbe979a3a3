// A network as boxes inside boxes: its parts from top to bottom, the shapes between them, and what is known of the
// chosen one.

import { coloursOf } from "../core/colours.js";
import { saveDrawing } from "../core/drawing_file.js";
import { html } from "../core/html.js";
import { PageLink, queryOf } from "../core/link.js";
import { Button } from "../parts/controls.js";
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { render } from "../vendor/preact.js";
import { drawingOf } from "./drawing.js";

/** @import {ArchitecturePart, ArchitectureProps, Shape} from "../types" */

/** @typedef {{chosen: string, sum: number, closed: Set<string>, choose: (id: string) => void, turn: (id: string) => void}} Context */

const PHONE = 640; // CSS pixels: up to this width the code is folded
const FIRST = "attention/attend"; // where tokens attend: shown when nothing was chosen
const HEADS = 16; // squares for heads; more get a number
const UNITS = ["", " k", " M", " G", " T"];

/**
 * @param {HTMLElement} root
 * @param {ArchitectureProps} first
 */
export function mount(root, first) {
  root.classList.add("headscope");
  const link = new PageLink(root);
  const asked = { part: "" };
  const update = (/** @type {ArchitectureProps} */ props) => {
    const start = link.update(props);
    if (start) asked.part = String(start.selection.part ?? "");
    render(html`<${Network} ...${props} root=${root} link=${link} start=${asked.part} />`, root);
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

/** @param {ArchitectureProps & {root: HTMLElement, link: PageLink, start: string}} props */
function Network({ root, link, start: asked, base, defaults, revision, busy = false, ...more }) {
  const [wanted, choose] = useState(asked);
  const [closed, setClosed] = useState(new Set());
  const [, repaint] = useState(0);
  const diagram = useRef(/** @type {HTMLElement | null} */ (null));
  const first = String(defaults.part ?? "");
  const parts = new Map(base ? walk(base.parts) : []);
  const ids = [...parts.keys()];
  const part = [wanted, first].find((id) => parts.has(id)) ?? ids.find((id) => id.endsWith(FIRST)) ?? "";
  useEffect(() => choose(asked), [revision]);
  useEffect(() => {
    const ended = new AbortController();
    const again = () => repaint((count) => count + 1);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again, ended);
    return () => ended.abort();
  }, []);
  useLayoutEffect(() => {
    if (!base) return;
    link.record(queryOf({ part }, defaults), { part });
    coloursOf(root, base.theme, more.type_size ?? 1);
    root.dataset.select = part;
    root.dataset.painted = "yes";
  });
  if (!base) return html`<p class="hs-loading" role="status">${more.message ?? "Loading the model …"}</p>`;
  const turn = (/** @type {string} */ id) => {
    const others = new Set(closed);
    if (!others.delete(id)) others.add(id);
    setClosed(others);
  };
  const context = { chosen: part, sum: sumOf(base.parts), closed, choose, turn };
  const isPair = base.parts[0].kind === "tower";
  const save = (/** @type {"svg" | "png"} */ format) => {
    const { current } = diagram;
    if (!current) return;
    coloursOf(root, { light: base.theme.light, dark: base.theme.light }, more.type_size ?? 1);
    const { text, size } = drawingOf(current, base.title);
    repaint((count) => count + 1);
    saveDrawing(text, size, base.title, format);
  };
  return html`
    <div class="hs-row">
      <span class="hs-label">Save</span>
      <div class="hs-switch" role="group" aria-label="Save the diagram">
        <${Button} text="SVG" title="Save the diagram as vectors, light" onClick=${() => save("svg")} />
        <${Button} text="PNG" title="Save the diagram as pixels, light" onClick=${() => save("png")} />
      </div>
    </div>
    <div class=${`hs-diagram ${isPair ? "hs-wide" : ""}`}>
      <div
        class=${`hs-network ${busy ? "stale" : ""}`}
        ref=${diagram}
        role="tree"
        aria-label=${`${base.title}: its parts`}
        onKeyDown=${(/** @type {KeyboardEvent} */ event) => walkByKey(event, context)}
      >
        ${
          isPair
            ? base.parts.map(
                (tower) => html`
                <div class="hs-tower" key=${tower.name}>
                  <strong>${tower.title}</strong>
                  <${Flow} parts=${tower.parts} path=${`${tower.name}/`} level=${1} context=${context} />
                </div>
              `,
              )
            : html`<${Flow} parts=${base.parts} path="" level=${1} context=${context} />`
        }
      </div>
      <${About} part=${parts.get(part)} sources=${base.sources} />
    </div>
  `;
}

/**
 * Parts below each other, projections that follow each other beside each other; what a residual connection goes round
 * is in one frame with the part that adds it.
 *
 * @param {{parts: ArchitecturePart[], path: string, level: number, context: Context}} props
 */
function Flow({ parts, path, level, context }) {
  /** @type {{name: string, template: unknown}[]} */
  const lines = [];
  const step = (/** @type {ArchitecturePart} */ part) => html`
    <div key=${part.name}>
      <${Part} ...${{ part, id: path + part.name, level, context }} />
      ${(part !== parts.at(-1) || level === 1) && html`<${Arrow} shape=${part.gives} brief=${part.kind === "projection"} />`}
    </div>
  `;
  for (const [i, part] of parts.entries()) {
    const isBeside = part.kind === "projection";
    if (isBeside && parts[i - 1]?.kind === "projection") continue; // in the row of the one before
    const end = parts.findIndex(({ kind }, at) => at > i && kind !== "projection");
    const row = parts.slice(i, end < 0 ? undefined : end);
    const template = isBeside
      ? html`<div class="hs-beside" key=${part.name}>${row.map(step)}</div>`
      : step(part);
    const from = lines.findIndex(({ name }) => name === part.skips);
    if (part.skips && from >= 0) {
      const inside = lines.splice(from).map((line) => line.template);
      lines.push({
        name: part.skips,
        template: html`<div class="hs-skip" key=${part.name}>${inside}${template}</div>`,
      });
    } else lines.push({ name: part.name, template });
  }
  return lines.map(({ template }) => template);
}

/** @param {{part: ArchitecturePart, id: string, level: number, context: Context}} props */
function Part({ part, id, level, context }) {
  const { chosen, sum, closed, choose, turn } = context;
  const hasParts = part.parts.length > 0;
  const isOpen = hasParts && !closed.has(id);
  const many = part.times > 1 ? ` × ${part.times}` : "";
  const within = (/** @type {Event} */ event, /** @type {() => void} */ act) => {
    event.stopPropagation();
    act();
  };
  const share = `${Math.min(100, (100 * part.parameters * part.times) / (sum || 1))}%`;
  return html`
    <div
      class=${`part ${id === chosen ? "chosen" : ""}`}
      data-id=${id}
      role="treeitem"
      aria-level=${level}
      aria-selected=${id === chosen}
      aria-expanded=${hasParts ? isOpen : undefined}
      aria-label=${`${part.title}, ${shapeOf(part.gives)}`}
      tabindex=${id === chosen ? 0 : -1}
      onClick=${(/** @type {Event} */ event) => within(event, () => choose(id))}
    >
      <div class="hs-part-title">
        ${
          hasParts &&
          html`<span class="toggle" onClick=${(/** @type {Event} */ event) => within(event, () => turn(id))}
          >${isOpen ? "▾" : "▸"}</span
        >`
        }
        <b>${part.title + many}</b>
        <span class="hs-amount">${part.parameters ? short(part.parameters * part.times) : ""}</span>
      </div>
      ${part.kind === "attend" && html`<${Heads} part=${part} />`}
      ${part.context.length > 0 && html`<div class="hs-context">${`with ${shapeOf(part.context)} of the encoder`}</div>`}
      ${
        isOpen
          ? html`<div class="hs-inside" role="group">
            <${Flow} parts=${part.parts} path=${`${id}/`} level=${level + 1} context=${context} />
          </div>`
          : html`<i class="hs-of-all" style=${{ width: share }}></i>`
      }
    </div>
  `;
}

/** A square for each head, and a small matrix whose filled cells may be attended to. @param {{part: ArchitecturePart}} props */
function Heads({ part }) {
  const count = part.takes.find(([name]) => name === "heads")?.[1] ?? 1;
  const cells = Array.from({ length: 16 }, (_, i) => !part.causal || i % 4 <= Math.floor(i / 4));
  return html`<div class="hs-attend" aria-hidden="true">
    ${Array.from({ length: Math.min(count, HEADS) }, (_, i) => html`<i class="head" data-head=${i}></i>`)}
    ${count > HEADS && `… ${count}`}
    <span class="mask">${cells.map((isSeen) => html`<i class=${isSeen ? "seen" : ""}></i>`)}</span>
  </div>`;
}

/** What flows on, beside others in short; a shape that has changed lights up. @param {{shape: Shape, brief: boolean}} props */
function Arrow({ shape, brief }) {
  const text = brief ? shape.map(([, size]) => size.toLocaleString("en")).join(" × ") : shapeOf(shape);
  const first = useRef(text);
  return html`<div class="hs-gives">
    ↓ <span key=${text} class=${text === first.current ? "shape" : "shape new"}>${text}</span>
  </div>`;
}

/**
 * Words, shapes and numbers of a part, and the lines that run.
 *
 * @param {{part: ArchitecturePart | undefined, sources: NonNullable<ArchitectureProps["base"]>["sources"]}} props
 */
function About({ part, sources }) {
  if (!part) return null;
  const { file, line, code } = sources[part.source];
  return html`<div class="hs-part-panel">
    <h3 class="hs-heading">${part.heading}</h3>
    <p>${part.sentence}</p>
    <table class="hs-table">
      <tbody>
        ${part.rows.map(
          ([name, text]) =>
            html`<tr key=${name}>
              <th scope="row">${name}</th>
              <td>${text}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    <details class="hs-runs" open=${innerWidth > PHONE}>
      <summary>What runs: ${file}, line ${line}</summary>
      <pre class="hs-code" tabindex="0"><code>${code}</code></pre>
    </details>
  </div>`;
}

/**
 * Up and down move, right and left open and close, Enter chooses.
 *
 * @param {KeyboardEvent} event
 * @param {Context} context
 */
function walkByKey(event, { closed, choose, turn }) {
  const tree = /** @type {HTMLElement} */ (event.currentTarget);
  const items = /** @type {HTMLElement[]} */ ([...tree.querySelectorAll("[role=treeitem]")]);
  const item = /** @type {HTMLElement} */ (event.target);
  const [at, id = ""] = [items.indexOf(item), item.dataset.id];
  const isOpen = item.ariaExpanded === "true";
  const above = item.parentElement?.closest("[role=treeitem]");
  const go = (/** @type {number} */ to) => items[Math.min(Math.max(0, to), items.length - 1)].focus();
  /** @type {Record<string, () => void>} */
  const actions = {
    ArrowDown: () => go(at + 1),
    ArrowUp: () => go(at - 1),
    ArrowRight: () => (closed.has(id) ? turn(id) : go(at + 1)),
    ArrowLeft: () => (isOpen ? turn(id) : /** @type {HTMLElement | null} */ (above)?.focus()),
    Home: () => go(0),
    End: () => go(items.length - 1),
    Enter: () => choose(id),
    " ": () => choose(id),
  };
  if (at < 0 || !actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
}

/**
 * Every part with its path.
 *
 * @param {ArchitecturePart[]} parts
 * @returns {Generator<[string, ArchitecturePart]>}
 */
function* walk(parts, above = "") {
  for (const part of parts) {
    yield [above + part.name, part];
    yield* walk(part.parts, `${above}${part.name}/`);
  }
}

/** @param {ArchitecturePart[]} parts */
const sumOf = (parts) => parts.reduce((sum, part) => sum + part.times * part.parameters, 0);

/**
 * “100 tokens × 300 dim”.
 *
 * @param {Shape} axes
 */
const shapeOf = (axes) => axes.map(([name, size]) => `${size.toLocaleString("en")} ${name}`).join(" × ");

/**
 * Three digits and a unit: 1,234,567 → "1.23 M".
 *
 * @param {number} value
 */
function short(value) {
  const step = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(value / 0.9995) / 3)));
  const rest = value / 1000 ** step;
  const digits = step === 0 || rest >= 99.95 ? 0 : rest >= 9.995 ? 1 : 2;
  return rest.toFixed(digits) + UNITS[step];
}
