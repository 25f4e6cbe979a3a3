// A slider that sends its value while it is dragged.

import { html } from "../core/html.js";
import { Heading, mounting, throttle } from "./control.js";
import { useEffect, useMemo, useState } from "../vendor/hooks.js";

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

export const mount = mounting(Slider);
