// How far a reader has come. Steps that were seen and the chosen door stay in this browser; answers stay for this
// tab, so that a reload keeps them and the next class is asked again.

const COURSE = "headscope/course";
export const CHANGED = "headscope-progress"; // an event of the document

/** @typedef {{seen: Record<string, string[]>, last: string, door: string}} Progress steps by lesson; "" for none */

/** @returns {Progress} */
export function progress() {
  const saved = read("localStorage", COURSE) ?? {};
  const seen = saved.seen && typeof saved.seen === "object" ? saved.seen : {};
  return { seen, last: String(saved.last ?? ""), door: String(saved.door ?? "") };
}

/** @param {Partial<Progress>} change */
function record(change) {
  write("localStorage", COURSE, { ...progress(), ...change });
  globalThis.document?.dispatchEvent(new Event(CHANGED));
}

/** @param {string} door */
export const recordDoor = (door) => record({ door });

/** A step of a lesson that was shown, its question answered. @type {(lesson: string, step: string) => void} */
export function recordSeen(lesson, step) {
  const { seen } = progress();
  const steps = [...new Set([...(seen[lesson] ?? []), step])];
  record({ seen: { ...seen, [lesson]: steps }, last: lesson });
}

/** Whether every step of a lesson's main line was seen. @type {(lesson: {name: string, steps: string[]}, seen: Progress["seen"]) => boolean} */
export const isDone = ({ name, steps }, seen) =>
  steps.length > 0 && steps.every((step) => seen[name]?.includes(step));

/** The steps of a lesson whose question was answered. @type {(lesson: string) => string[]} */
export const answeredSteps = (lesson) => read("sessionStorage", `${COURSE}/${lesson}`) ?? [];

/** @type {(lesson: string, step: string) => void} */
export const recordAnswer = (lesson, step) =>
  write("sessionStorage", `${COURSE}/${lesson}`, [...new Set([...answeredSteps(lesson), step])]);

/** @typedef {"localStorage" | "sessionStorage"} Store */

/** Null without storage (a file, a private window), or where an entry is not JSON. @type {(store: Store, key: string) => any} */
function read(store, key) {
  try {
    return JSON.parse(globalThis[store].getItem(key) ?? "null");
  } catch {
    return null;
  }
}

function write(store, key, value) {
  try {
    globalThis[store].setItem(key, JSON.stringify(value));
  } catch {
    // the course works without storage
  }
}
