// A slider that sends its value while it is dragged, over all values or over those that are allowed.

import { html } from "../core/html.js";
import { throttle } from "../core/throttle.js";
import { useEffect, useMemo, useState } from "../vendor/hooks.js";
import { Heading, mounting } from "./control.js";

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
 * @property {number[]} [allowed] the only values that work, in rising order
 * @property {string} [help]
 * @property {boolean} [disabled]
 */

const SEND_MS = 60;

/** @param {SliderProps & {host: Host}} props */
function Slider({ label, min, max, step, value, allowed = [], help, disabled = false, host }) {
  const valueIn = (/** @type {number} */ wanted) =>
    allowed.length
      ? allowed.reduce((best, each) => (Math.abs(each - wanted) < Math.abs(best - wanted) ? each : best))
      : Math.min(max, Math.max(min, wanted));
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
    if (now !== chosen && !disabled) take(now); // the values have changed
  });
  const range = allowed.length ? { min: 0, max: allowed.length - 1, step: 1 } : { min, max, step };
  const at = allowed.length ? allowed.indexOf(now) : now;
  const text = now.toFixed(String(step).split(".")[1]?.length ?? 0);
  const read = ({ currentTarget }) => {
    const place = Number(currentTarget.value);
    take(allowed.length ? allowed[place] : place);
  };
  const share = (at - range.min) / (range.max - range.min || 1);
  return html`
    <${Heading} ...${{ label, help }} />
    <div class="hs-slider" style=${{ "--share": String(share) }}>
      <output class="hs-slider-number">${text}</output>
      <input
        type="range"
        ...${{ ...range, disabled }}
        value=${at}
        aria-label=${label}
        aria-valuetext=${text}
        onInput=${read}
      />
    </div>
  `;
}

export const mount = mounting(Slider);
