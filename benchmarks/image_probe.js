// Notes when the image view has painted what an event asked for: the first task after the frame.
// `seen.NAME` is [seconds since 1970, milliseconds since the event], of the last `watch(NAME)`.
(() => {
  const probe = (window.imageProbe = { seen: {}, ready, watch });
  const { port1, port2 } = new MessageChannel();
  const waiting = [];
  port1.onmessage = () => waiting.splice(0).forEach((task) => task(performance.now()));
  const afterFrame = (task) =>
    requestAnimationFrame(() => {
      waiting.push(task);
      port2.postMessage(null);
    });

  let known = null;
  function root(from = document) {
    if (known?.isConnected) return known;
    const found = from.querySelector("[data-painted]");
    if (found) return (known = found);
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
  for (const name of ["pointermove", "keydown", "change"])
    addEventListener(name, ({ timeStamp }) => (event = timeStamp), true);

  function watch(name) {
    const { [name]: before, painted } = root().dataset;
    probe.seen[name] = [0, 0];
    event = 0;
    const look = (now) => {
      const data = root()?.dataset;
      if (whole() && data[name] !== before && data.painted !== painted)
        probe.seen[name] = [(performance.timeOrigin + now) / 1000, Math.max(0.01, now - event)];
      else afterFrame(look);
    };
    afterFrame(look);
  }
})();
