// Progress of a request that takes over a second, with a button that ends it.

import { element, setText } from "./dom.js";

/** @import {Client} from "./client.js" */

const LONG_MS = 1000;
const EVERY_MS = 500;

/** @param {() => Client | null} clientOf */
export function working(clientOf) {
  const label = element("span", "", { role: "status" });
  const bar = element("progress", "hs-progress", { "aria-label": "Computed so far" });
  const count = element("span");
  const stop = element("button", "hs-button", { type: "button" }, "Stop");
  const box = element("div", "hs-working", {}, label, bar, count, stop);
  box.hidden = true;
  /** The request that is shown. */
  let path = "";

  stop.onclick = () => {
    const client = clientOf();
    const slow = client?.slowest(LONG_MS);
    if (client && slow) client.stop(slow.name);
    update();
  };

  function update() {
    const client = clientOf();
    const slow = client?.slowest(LONG_MS) ?? null;
    box.hidden = !slow;
    setText(label, slow ? "Computing …" : "");
    if (path !== (slow?.path ?? "")) {
      path = slow?.path ?? "";
      bar.removeAttribute("value");
      setText(count, "");
    }
    if (client && path) void ask(client, path);
  }

  async function ask(client, asked) {
    const share = await client.progress(asked);
    if (!share || asked !== path) return;
    bar.max = share.total;
    bar.value = share.done;
    setText(count, `${share.done} of ${share.total}`);
  }

  const timer = setInterval(update, EVERY_MS);
  return { box, destroy: () => clearInterval(timer) };
}
