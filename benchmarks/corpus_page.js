// Records when the page of a run over a corpus has painted what an event asked for: the first task
// after the frame. `seen.NAME` is milliseconds since the event, of the last `watch(NAME)`; of the
// first picture, since the request of the page.
(() => {
  const probe = (window.corpusProbe = { seen: {}, watch });
  const { port1, port2 } = new MessageChannel();
  const waiting = [];
  port1.onmessage = () => waiting.splice(0).forEach((task) => task(performance.now()));

  function find(selector, from = document) {
    const found = from.querySelector(selector);
    if (found) return found;
    for (const element of from.querySelectorAll("*")) {
      const inside = element.shadowRoot && find(selector, element.shadowRoot);
      if (inside) return inside;
    }
    return null;
  }

  /** The plot as it is named, null while it is not drawn. */
  const axes = () => find(".hs-plot:not(.hs-dim) .hs-plot-canvas[aria-label]")?.getAttribute("aria-label").replace(/Chosen: .*/, "");
  /** The head whose page is drawn, null while it is not. */
  const head = () => {
    const section = find(".hs-corpus-head");
    if (!section || section.querySelector(".hs-dim") || !section.querySelector(".hs-dist-card")) return null;
    return section.querySelector(".hs-corpus-name").textContent;
  };
  const states = { picture: axes, axes, head, page: head };

  let event = 0;
  addEventListener("keydown", ({ timeStamp }) => (event = timeStamp), true);

  /** Looks once a frame, before it is painted. */
  function watch(name, from = null) {
    const before = from === null ? states[name]() : "";
    event = from ?? 0;
    delete probe.seen[name];
    const look = () => {
      const now = states[name]();
      if ((from === null && !event) || !now || now === before) return requestAnimationFrame(look);
      waiting.push((painted) => (probe.seen[name] = painted - event));
      port2.postMessage(null);
    };
    requestAnimationFrame(look);
  }
  watch("picture", 0);
  watch("page", 0);
})();
