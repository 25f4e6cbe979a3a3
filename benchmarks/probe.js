// Runs in every page before the page's own scripts: records when the first text, the first picture,
// and the picture after a key press were painted, which is the first task after the frame that
// contains it. With `same` a picture of the same head counts too.
(() => {
  const OLD = ".hs-dim, .hs-busy"; // on our last picture while the new one is still on its way
  const probe = (window.probe = { text: null, picture: null, changes: [], lazy: false, same: false });
  const { port1, port2 } = new MessageChannel();
  const waiting = [];
  port1.onmessage = () => waiting.splice(0).forEach((task) => task(performance.now()));

  const afterFrame = (task) =>
    requestAnimationFrame(() => {
      waiting.push(task);
      port2.postMessage(null);
    });

  // What a view fetches ahead, with low priority, is never answered while `lazy` is set: so what is
  // chosen next has to be fetched.
  const { fetch } = window;
  const fetched = [];
  probe.fetched = 0; // when something was last asked for or answered
  window.fetch = (what, options) => {
    if (probe.lazy && options?.priority === "low")
      return new Promise((_, fail) =>
        options.signal?.addEventListener("abort", () => fail(options.signal.reason)),
      );
    const answer = fetch(what, options);
    probe.fetched = performance.now();
    answer.finally(() => (probe.fetched = performance.now())).catch(() => {});
    if (/\/(map|layer|bytes|overview)\b/.test(what)) answer.then(() => fetched.push(performance.now()));
    return answer;
  };

  /** The element that counts its paints, inside shadow roots too. */
  let cached = null;
  function picture() {
    if (!cached?.isConnected) cached = find(document);
    return cached;
  }

  function find(root) {
    const painted = root.querySelector("[data-painted]");
    if (painted) return painted;
    for (const element of root.querySelectorAll("*")) {
      const inside = element.shadowRoot && find(element.shadowRoot);
      if (inside) return inside;
    }
    return null;
  }

  /** What is shown: null while there is nothing or only an old picture. */
  function current() {
    const root = picture();
    if (!root || root.matches(OLD)) return null;
    const dim = [...root.querySelectorAll(OLD)];
    if (dim.some((part) => part.getClientRects().length)) return null; // a form that is not hidden
    const { painted, trace, site, head } = root.dataset;
    return { root, painted: Number(painted), what: [trace, site, head].join() };
  }

  /** The first words of the page itself: not the toolbar's, not those of a message about loading. */
  function firstText() {
    const main = document.querySelector('[data-testid="stMain"]');
    if (!main) return null;
    const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { parentElement: parent, textContent } = walker.currentNode;
      if (!textContent.trim() || ["STYLE", "SCRIPT"].includes(parent.tagName)) continue;
      const visible = { checkOpacity: true, checkVisibilityCSS: true };
      if (parent.getClientRects().length && parent.checkVisibility(visible)) return textContent.trim();
    }
    return null;
  }

  const wall = (now) => (performance.timeOrigin + now) / 1000;
  function watch(now) {
    if (!probe.text) {
      const words = firstText();
      if (words) probe.text = { at: wall(now), words };
    }
    if (!probe.picture && current()?.painted >= 1) probe.picture = { at: wall(now) };
    if (!probe.text || !probe.picture) afterFrame(watch);
  }
  afterFrame(watch);

  // a handler that lets no other one hear of the key says so when it is done
  const { stopPropagation } = Event.prototype;
  Event.prototype.stopPropagation = function () {
    if (this.type === "keydown") probe.handled = performance.now() - begun;
    stopPropagation.call(this);
  };

  // A change that never comes must not be taken for the next one: every key starts anew.
  let turn = 0;
  let begun = 0;
  addEventListener(
    "keydown",
    (event) => {
      const before = current();
      const mine = ++turn;
      begun = performance.now();
      probe.handled = null;
      const look = (now) => {
        if (mine !== turn) return;
        const after = current();
        const anew = after?.root !== before?.root || after?.painted !== before?.painted;
        const changed = after && anew && (probe.same || after.what !== before?.what);
        if (!changed) return afterFrame(look);
        probe.changes.push({
          ms: now - event.timeStamp,
          handler: probe.handled,
          fetched: fetched.some((at) => at > event.timeStamp),
        });
      };
      afterFrame(look);
    },
    true,
  );
  addEventListener("keydown", () => (probe.handled = performance.now() - begun));
})();
