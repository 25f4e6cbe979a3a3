// Progress of a request that takes over a second, with a button that ends it.

import { html } from "./html.js";
import { useEffect, useState } from "../vendor/hooks.js";

/** @import {Client} from "./client.js" */

/** @typedef {{name: string, path: string, done?: number, total?: number}} Request */

const LONG_MS = 1000;
const EVERY_MS = 500;

/** @param {{client: Client}} props */
export function Working({ client }) {
  const [request, setRequest] = useState(/** @type {Request | null} */ (null));
  const look = async () => {
    const slow = client.slowest(LONG_MS);
    setRequest((now) => (now?.path === slow?.path ? now : slow));
    const progress = slow && (await client.progress(slow.path));
    if (progress) setRequest((now) => (now?.path === slow.path ? { ...slow, ...progress } : now));
  };
  useEffect(() => {
    const timer = setInterval(look, EVERY_MS);
    return () => clearInterval(timer);
  }, [client]);
  const { name = "", path = "", done, total } = request ?? {};
  const stop = () => {
    client.stop(name);
    void look();
  };
  return html`
    <div class="hs-working" hidden=${!request}>
      <span role="status">${request && "Computing …"}</span>
      <progress key=${path} class="hs-progress" aria-label="Computed so far" ...${total && { max: total, value: done }} />
      <span>${total && `${done} of ${total}`}</span>
      <button type="button" class="hs-button" onClick=${stop}>Stop</button>
    </div>
  `;
}
