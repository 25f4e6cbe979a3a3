// Runs over a corpus that are under way on the server: how far each is, with stop and resume.

import { element, setText } from "../core/dom.js";

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

/** @typedef {{serial: number}} RunsProps serial: changes when a run was started */

const EVERY_MS = 1000;
/** @type {Record<Report["status"], [string, string][]>} commands with their labels */
const COMMANDS = {
  running: [["stop", "Stop"]],
  stopped: [["resume", "Go on"], ["remove", "Remove"]],
  failed: [["resume", "Try again"], ["remove", "Remove"]],
  killed: [["resume", "Go on"], ["remove", "Remove"]],
};

/**
 * @param {HTMLElement} root
 * @param {RunsProps} props
 * @param {Host} host
 */
export function mount(root, props, host) {
  root.classList.add("hs-control");
  const list = element("ul", "hs-runs", { "aria-label": "Runs under way" });
  root.replaceChildren(list);
  /** @type {Map<string, ReturnType<typeof row>>} */
  const rows = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let ended = false;
  let serial = props.serial;

  async function ask(path, method) {
    clearTimeout(timer);
    try {
      const response = await fetch(`${location.origin}/api/runs${path}`, { method });
      if (response.ok) show(await response.json());
    } catch {
      // the server may be gone for a while: the next look says
    }
    clearTimeout(timer);
    const isGoing = [...rows.values()].some(({ going }) => going());
    if (!ended && (isGoing || method === "POST")) timer = setTimeout(() => void ask("", "GET"), EVERY_MS);
  }

  function show(reports) {
    const names = new Set(reports.map(({ name }) => name));
    const gone = [...rows.keys()].filter((name) => !names.has(name));
    for (const name of gone) {
      const finished = rows.get(name)?.going();
      rows.get(name)?.box.remove();
      rows.delete(name);
      if (finished) host.trigger("complete", name);
    }
    reports.forEach((report, place) => {
      const mine = rows.get(report.name) ?? row(report.name);
      rows.set(report.name, mine);
      mine.update(report);
      if (list.children[place] !== mine.box) list.insertBefore(mine.box, list.children[place] ?? null);
    });
  }

  function row(name) {
    const title = element("span", "hs-run-title");
    const words = element("span", "hs-run-words", { role: "status" });
    const bar = element("progress", "hs-run-bar", { max: "1" });
    const buttons = element("span", "hs-run-buttons");
    const box = element("li", "hs-run", {}, title, bar, words, buttons);
    let drawn = "";
    /** @type {Report["status"]} */
    let status = "running";

    function add(label, act) {
      const node = element("button", "hs-button", { type: "button" }, label);
      node.onclick = act;
      buttons.append(node);
    }

    function update(report) {
      status = report.status;
      setText(title, report.title);
      setText(words, wordsOf(report));
      bar.setAttribute("aria-label", `${report.title}: texts read`);
      bar.hidden = status === "failed";
      if (report.total) bar.value = report.done / report.total;
      else bar.removeAttribute("value");
      const wanted = `${status} ${report.opens}`;
      if (wanted === drawn) return; // the focus stays where it is
      drawn = wanted;
      buttons.replaceChildren();
      for (const [command, label] of COMMANDS[status])
        add(label, () => void ask(`/${encodeURIComponent(name)}/${command}`, "POST"));
      if (report.opens) add("Open", () => host.trigger("open", name));
    }

    return { box, update, going: () => status === "running" };
  }

  void ask("", "GET");
  return {
    /** @param {RunsProps} next */
    update(next) {
      if (next.serial === serial) return;
      serial = next.serial;
      void ask("", "GET");
    },
    destroy() {
      ended = true;
      clearTimeout(timer);
      root.replaceChildren();
    },
  };
}

/**
 * How far a run is, in words.
 *
 * @param {Pick<Report, "status" | "done" | "total" | "left" | "problem">} report
 */
export function wordsOf({ status, done, total, left, problem }) {
  if (status === "failed") return problem;
  const count = done.toLocaleString("en");
  const far = total === null ? (done ? `${count} texts counted` : "opening the model") : `${count} of ${total.toLocaleString("en")} texts`;
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
