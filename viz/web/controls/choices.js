// A list to choose from: cards or rows. It can remember what was opened, in this browser.

import { html } from "../core/html.js";
import { useLayoutEffect, useMemo } from "../vendor/hooks.js";
import { mounting } from "./control.js";

/** @import {Host} from "../types" */

/**
 * @typedef {object} Choice
 * @property {string} id what is sent
 * @property {string} title
 * @property {string} [detail]
 * @property {string} [tag] a word at its end
 * @property {string} [picture] URL of a thumbnail
 * @property {boolean} [chosen]
 */

/**
 * @typedef {object} ChoicesProps
 * @property {string} label
 * @property {Choice[]} items
 * @property {"cards" | "rows" | "thumbs"} layout
 * @property {string} [kept] name under which this browser remembers items, which are added on top
 */

const MOST = 8; // items remembered
const keyOf = (name) => `headscope/${name}`;

/** @param {ChoicesProps & {host: Host}} props */
function Choices({ label, items, layout, kept = "", host }) {
  const all = useMemo(() => (kept ? withEarlier(kept, items) : items), [kept, items]);
  useLayoutEffect(() => {
    if (kept) remember(kept, all);
  }, [kept, all]);
  const choose = (event, id) => {
    host.trigger("chosen", id);
    const closing = { key: "Escape", bubbles: true, composed: true }; // a menu round the list
    event.currentTarget.dispatchEvent(new KeyboardEvent("keydown", closing));
  };
  if (!all.length) return null;
  return html`
    ${label && html`<h3 class="hs-choices-title">${label}</h3>`}
    <ul class=${`hs-choices hs-choices-${layout}`} aria-label=${label}>
      ${all.map(
        ({ id, title, detail, tag, picture, chosen = false }) => html`
          <li>
            <button
              type="button"
              class="hs-choice-item"
              aria-pressed=${chosen}
              onClick=${(event) => choose(event, id)}
            >
              ${picture && html`<img class="hs-choice-picture" src=${picture} alt="" />`}
              <bdi class="hs-choice-name">${title}</bdi>
              ${tag && html`<span class="hs-choice-tag">${tag}</span>`}
              ${detail && html`<span class="hs-choice-detail">${detail}</span>`}
            </button>
          </li>
        `,
      )}
    </ul>
  `;
}

/** These items, then those of earlier visits. */
function withEarlier(name, items) {
  const now = new Set(items.map(({ id }) => id));
  return [...items, ...stored(name).filter(({ id }) => !now.has(id))].slice(0, MOST);
}

function remember(name, items) {
  try {
    const plain = items.map(({ id, title, detail }) => ({ id, title, detail }));
    localStorage.setItem(keyOf(name), JSON.stringify(plain));
  } catch {
    // the list works without storage
  }
}

function stored(name) {
  try {
    const value = JSON.parse(localStorage.getItem(keyOf(name)) ?? "[]");
    return value.filter((/** @type {Partial<Choice>} */ { id, title, detail }) =>
      [id, title, detail ?? ""].every((text) => typeof text === "string" && text.length < 4096),
    );
  } catch {
    return []; // no storage, or an invalid entry
  }
}

export const mount = mounting(Choices);
