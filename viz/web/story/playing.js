// A slider that moves by itself: from its value to its end, one step after another.

const STEP_MS = 900; // long enough to see what a step changes

/**
 * @param {object} slider
 * @param {number} slider.min
 * @param {number} slider.max
 * @param {number} slider.step
 * @param {() => number} slider.value now
 * @param {() => boolean} slider.inSight whether the slider is in sight
 * @param {(value: number) => void} slider.move
 * @param {(plays: boolean) => void} slider.changed
 */
export function playing({ min, max, step, value, inSight, move, changed }) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer; // until the next step

  function stop() {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    changed(false);
  }

  function go(to) {
    if (!inSight()) return stop();
    move(to);
    if (value() >= max) return stop();
    timer = setTimeout(() => go(Math.min(max, value() + step)), STEP_MS);
  }

  /** Begins, from the start where it is at its end, or stops. */
  function toggle() {
    if (timer !== undefined) return stop();
    changed(true);
    go(value() >= max ? min : Math.min(max, value() + step));
    if (timer === undefined) changed(false); // one step was all
  }

  return { stop, toggle };
}
