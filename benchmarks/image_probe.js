// Records when the image view has painted the result of an event: the first task after the frame.
// `seen.NAME` is [seconds since 1970, milliseconds since the event], of the last `watch(NAME)`.
// It asks for no frames of its own: a page that always draws lets every event wait for a frame.
(() => {
  const probe = (window.imageProbe = { seen: {}, ready, watch, hear });
  const { port1, port2 } = new MessageChannel();
  const waiting = [];
  port1.onmessage = () => waiting.splice(0).forEach((task) => task(performance.now()));

  let cached = null;
  function root(from = document) {
    if (cached?.isConnected) return cached;
    const painted = from.querySelector("[data-painted]");
    if (painted) return (cached = painted);
    for (const element of from.querySelectorAll("*")) {
      const inside = element.shadowRoot && root(element.shadowRoot);
      if (inside) return inside;
    }
    return null;
  }

  const whole = () => root() && !root().querySelector(".hs-dim");
  function ready() {
    return Boolean(whole());
  }

  let event = 0;
  /** Takes a change inside a shadow root for an event: it does not leave it. */
  function hear(chooser) {
    chooser.addEventListener("change", ({ timeStamp }) => (event = timeStamp));
  }
  for (const name of ["pointermove", "keydown"])
    addEventListener(name, ({ timeStamp }) => (event = timeStamp), true);

  let observer = null;
  function watch(name) {
    const { [name]: before } = root().dataset;
    probe.seen[name] = [0, 0];
    event = 0;
    observer?.disconnect();
    const mine = (observer = new MutationObserver(() => {
      if (!event || !whole() || root().dataset[name] === before) return;
      mine.disconnect();
      waiting.push((now) => {
        probe.seen[name] = [(performance.timeOrigin + now) / 1000, Math.max(0.01, now - event)];
      });
      port2.postMessage(null);
    }));
    mine.observe(root(), { attributes: true, subtree: true, attributeFilter: ["data-painted", "class"] });
  }
})();
