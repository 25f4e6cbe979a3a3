// The browser's side of a room on the server: changes by POST, news by server-sent events.

/** @import {RoomNews} from "../types" */
/** @import {ShownStep} from "../lessons/current_step.js" */

const BASE = "/api/room";
const AGAIN_MS = 1500; // before the next try to listen

/** A change that the server has refused. */
export class Refused extends Error {
  /**
   * @param {number} status of HTTP; 0 if there was no answer
   * @param {string} reason
   */
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}

/**
 * @param {string} path
 * @param {object} message
 * @returns {Promise<any>}
 */
async function post(path, message) {
  /** @type {Response} */
  let response;
  try {
    const headers = { "Content-Type": "application/json" };
    response = await fetch(path, { method: "POST", headers, body: JSON.stringify(message) });
  } catch {
    throw new Refused(0, "The server does not answer.");
  }
  if (response.ok) return response.json();
  throw new Refused(response.status, (await response.text()).slice(0, 200));
}

/**
 * Opens a room.
 *
 * @param {ShownStep} step
 * @returns {Promise<{code: string, key: string, host: string}>}
 */
export const openRoom = ({ page, step, steps, figure }) => post(BASE, { page, step, steps, figure });

/**
 * Changes a room.
 *
 * @param {string} code
 * @param {string} change
 * @param {object} message
 */
export const changeRoom = (code, change, message) =>
  post(`${BASE}/${encodeURIComponent(code)}/${change}`, message);

/**
 * The address of the picture of a link to a room.
 *
 * @param {string} code
 * @param {string} link
 */
export const pictureOf = (code, link) =>
  `${BASE}/${encodeURIComponent(code)}/qr?${new URLSearchParams({ link })}`;

/**
 * @typedef {object} Events
 * @property {(news: RoomNews) => void} news
 * @property {(connected: boolean) => void} connected
 * @property {() => void} ended there is no such room any more
 */

/**
 * Joins a room and listens until it ends, again and again where the connection is lost.
 *
 * @param {string} code
 * @param {{key?: string, member?: string}} known the presenter's key; who we were last time
 * @param {Events & {joined: (member: string) => void}} events
 * @returns {() => void} ends it
 */
export function listen(code, { key, member = "" }, events) {
  /** @type {EventSource | null} */
  let source = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let over = false;

  async function start() {
    try {
      if (!member) {
        const joined = await changeRoom(code, "join", key ? { key } : {});
        member = joined.member;
        if (over) return;
        events.joined(member);
      }
      open();
    } catch (error) {
      if (over) return;
      const status = error instanceof Refused ? error.status : 0;
      if (status === 404 || status === 403) end();
      else again();
    }
  }

  function open() {
    const query = new URLSearchParams({ member });
    source = new EventSource(`${BASE}/${encodeURIComponent(code)}/events?${query}`);
    source.onopen = () => events.connected(true);
    source.onmessage = ({ data }) => events.news(JSON.parse(data));
    source.addEventListener("end", end);
    source.onerror = () => {
      if (over) return;
      events.connected(false);
      if (source?.readyState !== EventSource.CLOSED) return; // it tries again by itself
      member = ""; // forgotten by the server, or the room has gone: joining says which
      again();
    };
  }

  function again() {
    events.connected(false);
    clearTimeout(timer);
    timer = setTimeout(() => void start(), AGAIN_MS);
  }

  function stop() {
    over = true;
    clearTimeout(timer);
    source?.close();
  }

  function end() {
    stop();
    events.ended();
  }

  void start();
  return stop;
}
