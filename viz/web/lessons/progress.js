// How far a reader has come. Lessons that were opened stay marked in this browser; answers stay for this
// tab, so that a reload keeps them and the next class is asked again.

const COURSE = "headscope/course";

/** @typedef {{opened: string[], last: string}} Progress names of lessons; "" where none was opened */

/** @returns {Progress} */
export function progress() {
  const saved = read("localStorage", COURSE);
  const opened = Array.isArray(saved?.opened) ? saved.opened.map(String) : [];
  return { opened, last: typeof saved?.last === "string" ? saved.last : "" };
}

/** @param {string} lesson */
export function recordOpened(lesson) {
  const { opened } = progress();
  write("localStorage", COURSE, { opened: [...new Set([...opened, lesson])], last: lesson });
}

/**
 * The steps of a lesson whose question has been answered.
 *
 * @param {string} lesson
 * @returns {string[]}
 */
export function answeredSteps(lesson) {
  const steps = read("sessionStorage", `${COURSE}/${lesson}`);
  return Array.isArray(steps) ? steps.map(String) : [];
}

/**
 * @param {string} lesson
 * @param {string} step
 */
export function recordAnswer(lesson, step) {
  write("sessionStorage", `${COURSE}/${lesson}`, [...new Set([...answeredSteps(lesson), step])]);
}

/** @typedef {"localStorage" | "sessionStorage"} Store */

/** Null without storage (a file, a private window), or where an entry is not JSON. */
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
