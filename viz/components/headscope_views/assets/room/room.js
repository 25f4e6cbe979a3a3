// The teacher's room: one person presents lessons, others follow from page to page and step to step,
// or wander off and come back. No script of Streamlit runs for a step.

import { element } from "../core/dom.js";
import { onStep, requestStep } from "../lessons/current_step.js";
import {
  START,
  comeBack,
  linkOf,
  moved,
  placeOf,
  presented,
  presenterMoved,
  towards,
  wander,
  wanted,
} from "./following.js";
import { Refused, changeRoom, listen, openRoom, pictureOf } from "./client.js";
import { answerPanel, askPanel, button, linkPanel, strip } from "./parts.js";

/** @import {RoomNews, RoomProps} from "../types" */
/** @import {ShownStep} from "../lessons/current_step.js" */

/** @typedef {{code: string, key?: string, host?: string}} Kept a room; with its key we present */
/** @typedef {ShownStep & {elsewhere: boolean}} Sent what the room has been told */

const KEPT = "headscope/room";
const STEP_MS = 300; // a story that is not there yet is asked again
const PAGE_MS = 5000;
const TRIES = 20;
const SEND_AGAIN_MS = 1000;

/** @param {HTMLElement} root @param {RoomProps} props */
export function mount(root, props) {
  root.classList.add("hs-control", "hs-room");
  /** @type {Kept | null} */
  let room = kept();
  let stop = () => {};
  let self = ""; // the member of the room that this browser is
  let connected = true;
  let over = "";
  /** @type {RoomNews | null} */
  let news = null;
  let following = START;
  /** @type {ShownStep | null} */
  let report = null;
  let lessons = props.lessons;
  let folded = ""; // the question, or result, that is put away here
  const asked = () => (news?.question ? `${news.question.number} ${news.question.revealed}` : "");

  const start = button("Present", () => void open());
  start.title = "Let others follow this lesson on their own screens";
  const problem = element("span", "hs-room-problem", { role: "status" });

  const link = linkPanel();
  const questions = askPanel({
    ask: (text, choices) => void change("ask", { text, choices }),
    reveal: () => void change("reveal"),
    dismiss: () => void change("dismiss"),
    onScreen: () => (report?.page === following.page ? (report.asked?.() ?? null) : null),
  });
  const toggleLink = button("Link", () => toggle(link.box));
  const toggleAsk = button("Question", () => toggle(questions.box));
  const presenting = strip(
    toggleLink,
    toggleAsk,
    button("Stop", () => void change("end")),
  );

  const answers = answerPanel((question, choice) => void answer(question, choice));
  const away = button("Wander off", () => turn(wander(following)));
  const back = button("Back to the presenter", comesBack, "hs-room-main");
  const toggleAnswers = button("Question", () => {
    folded = folded === asked() ? "" : asked();
    draw();
  });
  const attending = strip(toggleAnswers, away, back, button("Leave", leave));

  const dock = element("aside", "hs-room-dock", { "aria-label": "Room" });
  dock.append(link.box, questions.box, answers.box, presenting.box, attending.box);
  root.replaceChildren(start, problem, dock);
  link.box.hidden = questions.box.hidden = true;
  dock.onkeydown = ({ key }) => {
    const opened = [link.box, questions.box].find((panel) => !panel.hidden);
    if (key !== "Escape" || !opened) return;
    toggle(opened);
    (opened === link.box ? toggleLink : toggleAsk).focus();
  };

  // --- joining and leaving

  async function open() {
    const screen = presented(following.page, report, lessons);
    if (!screen) return;
    start.disabled = true;
    try {
      const opened = await openRoom(screen);
      enter(opened);
      toggle(link.box);
      toggleLink.focus();
    } catch (error) {
      problem.textContent = reasonOf(error);
    } finally {
      start.disabled = false;
    }
  }

  /** @param {Kept} next */
  function enter(next) {
    stop();
    room = next;
    keep(next);
    over = "";
    news = null;
    const { code, key } = next;
    const member = key ? "" : stored("localStorage", memberOf(code));
    self = member;
    stop = listen(code, { key, member }, {
      joined: (name) => {
        if (!key) store("localStorage", memberOf(code), name);
        self = name;
      },
      connected: (now) => {
        connected = now;
        draw();
      },
      news: heard,
      ended: () => {
        over = key ? "The room is closed." : "The presenter has closed the room.";
        keep(null);
        draw();
      },
    });
    draw();
  }

  function leave() {
    stop();
    room = null;
    keep(null);
    news = null;
    following = { ...START, page: following.page, report };
    draw();
  }

  /** @param {RoomNews} now */
  function heard(now) {
    news = now;
    if (room?.key) void send();
    else {
      const { page, step, steps, figure } = now;
      const next = presenterMoved(following, { page, step, steps, figure });
      if (next !== following) tries = 0;
      turn(next);
      mirror();
    }
    draw();
  }

  // --- presenting

  /** @type {Sent | null} */
  let sent = null;
  let sending = false;

  /** Tells the room what is shown here, one message at a time, the latest last. */
  async function send() {
    const before = sent ?? news;
    const lesson = presented(following.page, report, lessons) ?? before;
    if (!room?.key || over || sending || !lesson) return;
    const { page, step, steps, figure } = lesson;
    const screen = { page, step, steps, figure, elsewhere: lesson === before };
    if (same(screen, before)) return;
    sending = true;
    sent = screen;
    const done = await change("show", screen);
    sending = false;
    if (!done) {
      sent = null;
      setTimeout(() => void send(), SEND_AGAIN_MS);
    } else void send();
  }

  /**
   * @param {string} name
   * @param {object} [message]
   * @returns {Promise<boolean>} whether it was made
   */
  async function change(name, message = {}) {
    if (!room?.key) return true;
    try {
      await changeRoom(room.code, name, { key: room.key, ...message });
      problem.textContent = "";
      return true;
    } catch (error) {
      problem.textContent = reasonOf(error);
      return false;
    }
  }

  /** @param {HTMLElement} panel opened or closed; one at a time */
  function toggle(panel) {
    for (const each of [link.box, questions.box]) each.hidden = each !== panel || !each.hidden;
    draw();
  }

  // --- following

  let tries = 0; // since the presenter has moved
  let target = "";
  let requested = 0; // when a step was asked for
  let touched = 0; // when somebody here did anything
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** @param {typeof following} next */
  function turn(next) {
    following = next;
    if (room && !room.key) pursue();
    draw();
  }

  function comesBack() {
    tries = 0;
    turn(comeBack(following));
  }

  /** Goes where the presenter is, unless we are on the way already. */
  function pursue() {
    const next = JSON.stringify(wanted(following));
    if (next === target) return;
    target = next;
    attempt();
  }

  function attempt() {
    clearTimeout(timer);
    const next = wanted(following);
    if (!next || over || tries >= TRIES) return;
    tries += 1;
    if ("page" in next) {
      timer = setTimeout(attempt, PAGE_MS);
      openPage(next.page);
    } else {
      timer = setTimeout(attempt, STEP_MS);
      requested = performance.now();
      requestStep(following.page, next.step);
    }
  }

  /**
   * @param {number} question
   * @param {number} choice
   */
  async function answer(question, choice) {
    if (!room) return;
    try {
      await changeRoom(room.code, "answer", { member: self, question, choice });
      problem.textContent = "";
    } catch (error) {
      problem.textContent = reasonOf(error);
    }
  }

  let mirrored = ""; // what of the presenter's figure has been drawn here

  /** Draws the presenter's figure, once we are where she is. */
  function mirror() {
    if (!room || room.key || !news || over || following.wandering || towards(following)) return;
    const { page, step, figure } = news;
    const now = JSON.stringify([page, step, figure]);
    if (now === mirrored) return;
    mirrored = now;
    requestStep(page, step, figure);
  }

  // --- what is seen

  function draw() {
    const presents = Boolean(room?.key);
    start.hidden = room !== null || !presented(following.page, null, lessons);
    dock.hidden = room === null;
    presenting.box.hidden = !presents || Boolean(over);
    attending.box.hidden = presents && !over;
    document.documentElement.toggleAttribute("data-room", room !== null);
    if (!room) return;
    if (over) link.box.hidden = questions.box.hidden = true;
    if (presents) drawPresenter(room);
    else drawFollower();
  }

  /** @param {Kept} here */
  function drawPresenter({ code, host = location.host }) {
    toggleLink.setAttribute("aria-expanded", String(!link.box.hidden));
    toggleAsk.setAttribute("aria-expanded", String(!questions.box.hidden));
    answers.box.hidden = true;
    toggleAnswers.hidden = away.hidden = back.hidden = true;
    attending.say(over);
    const count = news?.followers ?? 0;
    presenting.say(connected ? `Presenting · ${count} following` : "Presenting · no connection");
    const page = presented(following.page, null, lessons)?.page ?? news?.page ?? "";
    const address = linkOf(location.protocol, host, page, code);
    link.show(address, pictureOf(code, address));
    questions.show(news?.question ?? null, count);
  }

  function drawFollower() {
    const apart = !over && following.wandering && towards(following) !== null;
    away.hidden = Boolean(over) || following.wandering;
    back.hidden = Boolean(over) || !following.wandering;
    const question = over ? null : (news?.question ?? null);
    answers.show(folded && folded === asked() ? null : question);
    toggleAnswers.hidden = question === null;
    toggleAnswers.setAttribute("aria-expanded", String(!answers.box.hidden));
    const place = following.presenter ? placeOf(following.presenter, lessons) : "";
    if (over) attending.say(over);
    else if (!connected) attending.say("No connection; trying again");
    else if (!place) attending.say("Joining …");
    else if (following.wandering)
      attending.say(apart ? `The presenter is at ${place}` : `On your own · ${place}`);
    else attending.say(news?.elsewhere ? "The presenter is on another page" : `Following · ${place}`);
  }

  // --- beginning and end

  const input = new AbortController();
  for (const kind of ["wheel", "touchmove", "pointerdown", "keydown"])
    addEventListener(kind, () => (touched = performance.now()), {
      capture: true,
      passive: true,
      signal: input.signal,
    });
  const unlisten = onStep((step) => {
    report = step;
    turn(moved(following, { report }, touched > requested));
    mirror();
    void send();
  });

  /** @param {RoomProps} next */
  function update(next) {
    lessons = next.lessons;
    if (next.code && next.code !== room?.code && next.code !== left) {
      left = next.code; // once: the link keeps it for a while
      enter({ code: next.code });
    }
    if (next.page !== following.page) {
      turn(moved(following, { page: next.page }, true));
      void send();
    }
    draw();
  }
  let left = "";
  if (room) enter(room);
  update(props);
  return {
    update,
    destroy: () => {
      unlisten();
      input.abort();
      stop();
      clearTimeout(timer);
      document.documentElement.removeAttribute("data-room");
      root.replaceChildren();
    },
  };
}

/**
 * Opens a page of the app as a click on its link does: nothing is loaded anew.
 *
 * @param {string} page
 */
function openPage(page) {
  const at = [`[href="${page}"]`, `[href$="/${page}"]`].join(", ");
  const anchor = document.querySelector(`.st-key-frame_room_links a:is(${at})`);
  if (anchor instanceof HTMLElement) anchor.click();
}

/**
 * @param {Sent} one
 * @param {Sent | null} other
 */
const same = (one, other) =>
  /** @type {const} */ (["page", "step", "steps", "figure", "elsewhere"]).every((name) => one[name] === other?.[name]);

/** @param {unknown} error */
const reasonOf = (error) => (error instanceof Refused ? error.message : "This did not work.");

/** @param {string} code */
const memberOf = (code) => `${KEPT}/${code}`;

/** @param {Kept | null} room of this tab: a presenter who reloads keeps her room */
const keep = (room) => store("sessionStorage", KEPT, room ? JSON.stringify(room) : "");

/** @returns {Kept | null} */
function kept() {
  try {
    const room = JSON.parse(stored("sessionStorage", KEPT));
    return typeof room?.code === "string" ? room : null;
  } catch {
    return null;
  }
}

/**
 * @param {"localStorage" | "sessionStorage"} storage which may be closed to pages
 * @param {string} name
 */
function stored(storage, name) {
  try {
    return globalThis[storage].getItem(name) ?? "";
  } catch {
    return "";
  }
}

/**
 * @param {"localStorage" | "sessionStorage"} storage which may be closed to pages
 * @param {string} name
 * @param {string} text
 */
function store(storage, name, text) {
  try {
    globalThis[storage].setItem(name, text);
  } catch {
    // a room works without storage, until its page is loaded again
  }
}
