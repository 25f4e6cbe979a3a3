// Hooks of views: what they keep, and what they ask the server.

import { topOf } from "./dom.js";
import { capital } from "./labels.js";
import { jsonOf } from "./sources.js";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { signal } from "../vendor/signals-core.js";

/**
 * State of a view that changes with the pointer: a signal whose changes are drawn in the next frame, together
 * with the panels around the view. Who handles an event reads the newest value.
 *
 * @template T
 * @param {{changed: () => void}} state
 * @param {T} initial
 * @returns {import("../vendor/signals-core.js").Signal<T>}
 */
export function useFrameSignal(state, initial) {
  const kept = useMemo(() => signal(initial), []);
  useLayoutEffect(() => kept.subscribe(() => state.changed()), [state]);
  return kept;
}

/**
 * A value made from others; while these are not ready, that of the last ones. Null before the first.
 *
 * @template T
 * @param {boolean} isReady
 * @param {() => T} make
 * @param {unknown[]} inputs
 * @returns {T | null}
 */
export function useNewest(isReady, make, inputs) {
  const kept = useRef(/** @type {{inputs: unknown[], value: T} | null} */ (null));
  const isNew = kept.current?.inputs.some((value, i) => !Object.is(value, inputs[i])) ?? true;
  if (isReady && isNew) kept.current = { inputs, value: make() };
  return kept.current?.value ?? null;
}

/**
 * Functions for listeners that are added once: they call those of the newest drawing.
 *
 * @template {Record<string, (...values: any[]) => any>} T
 * @param {T} functions
 * @returns {T}
 */
export function useHandlers(functions) {
  const newest = useRef(functions);
  const stable = useRef(/** @type {T | null} */ (null));
  useLayoutEffect(() => {
    newest.current = functions;
  });
  stable.current ??= /** @type {T} */ (
    Object.fromEntries(
      Object.keys(functions).map((name) => [
        name,
        (/** @type {any[]} */ ...values) => newest.current[name](...values),
      ]),
    )
  );
  return stable.current;
}

/**
 * An answer of the server. It is asked for while there is a path, aborted when the path changes or the
 * view goes, and asked for again after a failure.
 *
 * @template {string} R
 * @param {import("./state.js").State<any>} view
 * @param {string} slot
 * @param {R | import("../types").Path<R> | null} path null asks nothing
 * @param {string} [doing] what the server does meanwhile, as "Comparing models"
 * @returns {{answer: import("../types").AnswerTo<R> | null, newest: import("../types").AnswerTo<R> | null, reason: string, isRefused: boolean}}
 *   newest: the last answer while the next is on its way; the reason is why there is no answer: it is on its way, or
 *   will not come; a server that refuses says so itself
 */
export function useAnswer(view, slot, path, doing = "Loading") {
  const newest = useRef(/** @type {any} */ (null));
  useEffect(() => {
    if (path === null) view.forget(slot);
  }, [view, slot, path]);
  useEffect(() => () => view.forget(slot), [view, slot]);
  const reply = path === null ? null : /** @type {any} */ (view.answer(slot, path));
  const isRefused = reply?.why !== undefined;
  const answer = isRefused ? null : reply;
  if (reply) newest.current = answer;
  const waiting = path === null || reply ? "" : view.waitingFor(slot, doing);
  return { answer, newest: newest.current, reason: isRefused ? capital(reply.why) : waiting, isRefused };
}

/**
 * Asks the client for a binary answer, which the state keeps, while there is a path; lets go of the slot when the
 * component goes.
 *
 * @param {import("./state.js").State<any>} view
 * @param {string} slot
 * @param {string | null} path null asks nothing
 * @param {number} [delay] milliseconds for which the path stays the same before it is asked for
 */
export function useWanted(view, slot, path, delay = 0) {
  const { client } = view;
  useEffect(() => client?.want(slot, path, delay), [client, slot, path, delay]);
  useEffect(() => () => view.client?.want(slot, null), [view, slot]);
}

/**
 * A JSON answer of a source, or `why` there is none; the last one stays until the next is there.
 *
 * @param {import("../types").Source} source
 * @param {string | null | undefined} path null for no answer; undefined keeps the last one
 */
export function useReply(source, path) {
  const [reply, setReply] = useState(/** @type {any} */ (null));
  useEffect(() => {
    if (path === undefined) return undefined;
    if (path === null) return setReply(null);
    const ended = new AbortController();
    const keep = (next) => ended.signal.aborted || setReply(next);
    source.get(path, { signal: ended.signal, priority: "high" }).then(
      (bytes) => keep(jsonOf(bytes)),
      ({ message }) => keep({ why: message }),
    );
    return () => ended.abort();
  }, [source, path]);
  return reply;
}

/** @typedef {{wide: number, high: number, unit: number, family: string}} Space in CSS pixels; unit: of type, 1 at 16 */

/**
 * The room of an element in the frame of the page, measured after each drawing.
 *
 * @type {(place: {current: HTMLElement | null}) => Space}
 */
export function useSpace(place) {
  const [space, setSpace] = useState(/** @type {Space} */ ({ wide: 0, high: 0, unit: 1, family: "" }));
  useLayoutEffect(() => {
    const node = place.current;
    if (!node) return;
    const { fontSize, fontFamily: family } = getComputedStyle(node);
    const room = node.closest(".hs-drawing");
    const above = room
      ? node.getBoundingClientRect().top - room.getBoundingClientRect().top + room.scrollTop
      : topOf(node);
    const high = Math.round((room?.clientHeight ?? innerHeight) - above);
    const next = { wide: node.clientWidth, high, unit: parseFloat(fontSize) / 16, family };
    if (next.wide && Object.entries(next).some(([name, value]) => value !== space[name])) setSpace(next);
  });
  return space;
}
