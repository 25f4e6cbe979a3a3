// Runs over a corpus that are under way on the server: how far each is, with stop and resume.

import { html } from "../core/html.js";
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { mounting } from "./control.js";

/** @import {Host} from "../types" */

/**
 * @typedef {object} Report
 * @property {string} name
 * @property {string} title
 * @property {"running" | "stopped" | "failed" | "killed"} status
 * @property {number} done texts
 * @property {number | null} total null until they are counted
 * @property {number | null} left seconds
 * @property {string} problem one line
 * @property {boolean} opens whether it has results so far
 */

const EVERY_MS = 1000;
/** @type {Record<Report["status"], [string, string][]>} commands with their labels */
const COMMANDS = {
  running: [["stop", "Stop"]],
  stopped: [
    ["resume", "Go on"],
    ["remove", "Remove"],
  ],
  failed: [
    ["resume", "Try again"],
    ["remove", "Remove"],
  ],
  killed: [
    ["resume", "Go on"],
    ["remove", "Remove"],
  ],
};
const isGoing = ({ status }) => status === "running";

/** @param {{serial: number, host: Host}} props serial: changes when a run was started */
function Runs({ serial, host }) {
  const [reports, show] = useState(/** @type {Report[]} */ ([]));
  const [commands, count] = useState(0);
  const newest = useRef(reports);
  async function ask(path, method) {
    const response = await fetch(`${location.origin}/api/runs${path}`, { method }).catch(() => null);
    if (!response?.ok) return; // the server may be gone for a while: the next look says
    /** @type {Report[]} */
    const next = await response.json();
    const isThere = ({ name }) => next.some((each) => each.name === name);
    for (const each of newest.current)
      if (isGoing(each) && !isThere(each)) host.trigger("complete", each.name);
    newest.current = next;
    show(next);
  }
  useEffect(() => {
    let [isOver, timer] = [false, /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined)];
    const look = async () => {
      await ask("", "GET");
      if (!isOver && newest.current.some(isGoing)) timer = setTimeout(look, EVERY_MS);
    };
    void look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [serial, commands]);
  const order = (name, command) =>
    ask(`/${encodeURIComponent(name)}/${command}`, "POST").then(() => count((before) => before + 1));
  return html`
    <ul class="hs-runs" aria-label="Runs under way">
      ${reports.map((report) => html`<${Run} key=${report.name} ...${{ report, order, host }} />`)}
    </ul>
  `;
}

function Run({ report, order, host }) {
  const { name, title, status, done, total, opens } = report;
  const share = total ? { value: done / total } : {};
  return html`
    <li class="hs-run">
      <span class="hs-run-title">${title}</span>
      ${status !== "failed" && html`<progress class="hs-run-bar" max="1" aria-label=${`${title}: texts read`} ...${share} />`}
      <span class="hs-run-words" role="status">${wordsOf(report)}</span>
      <span class="hs-run-buttons">
        ${COMMANDS[status].map(
          ([command, label]) =>
            html`<button key=${command} type="button" class="hs-button" onClick=${() => order(name, command)}>${label}</button>`,
        )}
        ${opens && html`<button type="button" class="hs-button" onClick=${() => host.trigger("open", name)}>Open</button>`}
      </span>
    </li>
  `;
}

/** How far a run is, in words. @param {Pick<Report, "status" | "done" | "total" | "left" | "problem">} report */
export function wordsOf({ status, done, total, left, problem }) {
  if (status === "failed") return problem;
  const count = done.toLocaleString("en");
  const far =
    total === null
      ? done
        ? `${count} texts counted`
        : "opening the model"
      : `${count} of ${total.toLocaleString("en")} texts`;
  if (status === "stopped") return `${far}, stopped`;
  if (status === "killed") return `${far}; its process ended`;
  return left === null ? far : `${far}, ${durationOf(left)} left`;
}

function durationOf(seconds) {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.round(whole / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export const mount = mounting(Runs);
