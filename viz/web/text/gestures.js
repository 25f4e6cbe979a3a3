// Pointer, wheel and keyboard over a matrix, as what the user means by them.

/**
 * Points are CSS pixels from the element's corner.
 *
 * @typedef {object} Gestures
 * @property {(x: number, y: number) => boolean} grabs whether a press here belongs to the matrix
 * @property {() => boolean} drags whether a drag moves the matrix
 * @property {(x: number, y: number) => void} hover
 * @property {() => void} leave
 * @property {(x: number, y: number) => void} press a click or a tap
 * @property {(right: number, down: number) => void} drag by so much since the last call
 * @property {(factor: number, x: number, y: number) => void} zoom
 * @property {() => void} reset
 * @property {() => boolean} release lets go of what is chosen; whether there was anything
 * @property {(down: number, right: number) => void} walk
 * @property {() => void} choose
 * @property {(x: number, y: number) => boolean} alters whether a drag with Alt from here alters a weight
 * @property {(up: number) => void} alter by a drag of so many pixels
 * @property {(keep: boolean) => void} altered at its end
 */

const CLICK = 4; // pixels a pointer may stray in a click
/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/**
 * @param {HTMLElement} target
 * @param {Gestures} on
 */
export function listen(target, on) {
  /** @type {Map<number, [number, number]>} */
  const pointers = new Map();
  /** @type {{at: [number, number], far: boolean} | null} */
  let press = null;
  let isAltering = false;

  /**
   * @param {MouseEvent} event
   * @returns {[number, number]}
   */
  const spot = (event) => {
    const box = target.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  target.onpointerdown = (event) => {
    const at = spot(event);
    if (event.button > 0 || !on.grabs(...at)) return;
    pointers.set(event.pointerId, at);
    press = { at, far: pointers.size > 1 };
    isAltering = event.altKey && pointers.size === 1 && on.alters(...at);
    if (isAltering || on.drags() || pointers.size > 1) target.setPointerCapture(event.pointerId);
  };

  target.onpointermove = (event) => {
    const at = spot(event);
    const before = pointers.get(event.pointerId);
    if (before && pointers.size === 2) return pinch(event.pointerId, before, at);
    if (before && press) {
      press.far ||= Math.hypot(at[0] - press.at[0], at[1] - press.at[1]) > CLICK;
      if (isAltering) return press.far ? on.alter(press.at[1] - at[1]) : undefined;
      if (press.far && on.drags()) {
        pointers.set(event.pointerId, at);
        target.style.cursor = "grabbing";
        on.drag(at[0] - before[0], at[1] - before[1]);
        return;
      }
    }
    on.hover(...at);
  };

  /**
   * @param {number} id
   * @param {[number, number]} before
   * @param {[number, number]} at
   */
  function pinch(id, before, at) {
    const other = [...pointers].find(([pointer]) => pointer !== id)?.[1] ?? at;
    /** @param {[number, number]} point */
    const span = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]);
    pointers.set(id, at);
    const factor = span(at) / Math.max(1, span(before));
    on.zoom(factor, (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
  }

  target.onpointerup = (event) => {
    const was = pointers.delete(event.pointerId);
    target.style.cursor = "";
    if (isAltering) stopAltering(Boolean(press?.far));
    else if (was && press && !press.far) on.press(...spot(event));
  };
  target.onpointercancel = (event) => {
    pointers.delete(event.pointerId);
    press = null;
    if (isAltering) stopAltering(false);
  };

  /** @param {boolean} keep */
  function stopAltering(keep) {
    isAltering = false;
    on.altered(keep);
  }

  target.onpointerleave = (event) => {
    if (event.pointerType === "mouse") on.leave();
  };
  target.ondblclick = (event) => {
    if (on.grabs(...spot(event))) on.reset();
  };
  // The wheel alone scrolls the page. With Ctrl or ⌘ it zooms; a pinch on a touchpad is the same.
  target.addEventListener(
    "wheel",
    (event) => {
      const at = spot(event);
      if (!(event.ctrlKey || event.metaKey) || !on.grabs(...at)) return;
      event.preventDefault();
      const step = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
      on.zoom(Math.exp(-Math.max(-60, Math.min(60, step)) * 0.01), ...at);
    },
    { passive: false },
  );
  target.onkeydown = (event) => {
    if (event.key === "Escape" && isAltering) {
      event.preventDefault();
      return stopAltering(false);
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (MOVES[event.key]) on.walk(...MOVES[event.key]);
    else if (event.key === "+" || event.key === "=") on.zoom(1.5, NaN, NaN);
    else if (event.key === "-") on.zoom(1 / 1.5, NaN, NaN);
    else if (event.key === "Escape") {
      if (!on.release()) return;
    } else if (event.key === "Enter" || event.key === " ") on.choose();
    else return;
    event.preventDefault();
  };
}
