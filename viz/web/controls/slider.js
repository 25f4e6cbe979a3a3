// A slider that sends its value while it is dragged, and snaps to the values that are allowed.

import { element, setAttribute, setText } from "../core/dom.js";
import { throttle } from "../core/throttle.js";
import { headingOf } from "./heading.js";
import { digitsOf, endsOf, nearest, pageOf, shareOf, stepped } from "./steps.js";

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
 * @property {number[]} [allowed] the only values that work
 * @property {string} [help]
 * @property {Record<string, string>} [marks] words below the track, by value
 * @property {boolean} [disabled]
 */

const SEND_MS = 60;
const DOTS = 16; // allowed values that are marked on the track, at most

/**
 * @param {HTMLElement} root
 * @param {SliderProps} props
 * @param {Host} host
 */
export function mount(root, props, host) {
  root.classList.add("hs-control");
  const heading = headingOf();
  const number = element("output", "hs-slider-number");
  const fill = element("div", "hs-slider-fill");
  const dots = element("div", "hs-slider-dots", { "aria-hidden": "true" });
  const track = element("div", "hs-slider-track", {}, fill, dots);
  const thumb = element("div", "hs-slider-thumb", { role: "slider", tabindex: "0" }, number);
  const rail = element("div", "hs-slider", {}, track, thumb);
  const words = element("div", "hs-slider-marks", { "aria-hidden": "true" });
  root.replaceChildren(heading.box, rail, words);
  const { put, stop } = throttle((/** @type {number} */ value) => host.set("value", value), SEND_MS);
  let now = props;
  let value = nearest(props, props.value);

  function change(next) {
    if (next === value || now.disabled) return;
    value = next;
    show();
    put(value);
  }

  function valueAt(event) {
    const box = track.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    return nearest(now, now.min + share * (now.max - now.min));
  }

  rail.onpointerdown = (event) => {
    if (event.button > 0 || now.disabled) return;
    event.preventDefault();
    rail.setPointerCapture(event.pointerId);
    thumb.focus();
    change(valueAt(event));
  };
  rail.onpointermove = (event) => {
    if (rail.hasPointerCapture(event.pointerId)) change(valueAt(event));
  };
  thumb.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = pageOf(now);
    /** @type {Record<string, number>} */
    const steps = {
      ...{ ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 },
      ...{ PageUp: page, PageDown: -page },
    };
    const { first, last } = endsOf(now);
    if (event.key === "Home") change(first);
    else if (event.key === "End") change(last);
    else if (event.key in steps) change(stepped(now, value, steps[event.key]));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  /** Everything that depends on the value. */
  function show() {
    const share = shareOf(now, value);
    const text = value.toFixed(digitsOf(now.step));
    rail.style.setProperty("--share", String(share));
    setText(number, text);
    setAttribute(thumb, "aria-valuenow", String(value));
    setAttribute(thumb, "aria-valuetext", text);
  }

  /** Everything that depends on the props. */
  function arrange() {
    const { label, min, max, allowed = [], help = "", marks = {}, disabled = false } = now;
    heading.show(label, help);
    setAttribute(thumb, "aria-label", label);
    setAttribute(thumb, "aria-valuemin", String(min));
    setAttribute(thumb, "aria-valuemax", String(max));
    setAttribute(thumb, "aria-disabled", String(disabled));
    thumb.tabIndex = disabled ? -1 : 0;
    root.classList.toggle("hs-disabled", disabled);
    const marked = allowed.length <= DOTS ? allowed : [];
    dots.replaceChildren(...marked.map((each) => placed("i", each, "")));
    words.replaceChildren(...Object.entries(marks).map(([at, text]) => placed("span", +at, text)));
    words.hidden = !words.children.length;
  }

  function placed(tag, at, text) {
    const mark = element(tag, "", {}, text);
    mark.style.setProperty("--at", String(shareOf(now, at)));
    return mark;
  }

  arrange();
  show();
  return {
    /** @param {SliderProps} next */
    update(next) {
      now = next;
      arrange();
      const held = nearest(next, value);
      if (held !== value && !next.disabled) {
        value = held;
        put(value);
      }
      show();
    },
    destroy() {
      stop();
      root.replaceChildren();
    },
  };
}
