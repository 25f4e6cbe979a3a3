// Runs in every page before the page's own scripts: notes when the first text, the first picture,
// and the picture that follows a key press were painted. Painted means: the first task after a frame
// in which it was there.
(() => {
  const DIM = ".hs-dim"; // on our old picture while the new one is still on its way
  const probe = (window.probe = { text: null, picture: null, changes: [] });
  const { port1, port2 } = new MessageChannel();
  const waiting = [];
  port1.onmessage = () => waiting.splice(0).forEach((task) => task(performance.now()));

  const afterFrame = (task) =>
    requestAnimationFrame(() => {
      waiting.push(task);
      port2.postMessage(null);
    });

  /** The element that counts its paints, inside shadow roots too. */
  let known = null;
  function picture() {
    if (!known?.isConnected) known = find(document);
    return known;
  }

  function find(root) {
    const found = root.querySelector("[data-painted]");
    if (found) return found;
    for (const element of root.querySelectorAll("*")) {
      const inside = element.shadowRoot && find(element.shadowRoot);
      if (inside) return inside;
    }
    return null;
  }

  /** What is shown: null while there is nothing or only an old picture. */
  function shown() {
    const root = picture();
    if (!root || root.querySelector(DIM)) return null;
    const { painted, trace, site, head } = root.dataset;
    return { painted: Number(painted), what: [trace, site, head].join() };
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
    if (!probe.picture && shown()?.painted >= 1) probe.picture = { at: wall(now) };
    if (!probe.text || !probe.picture) afterFrame(watch);
  }
  afterFrame(watch);

  // A change that never comes must not be taken for the next one: every key starts anew.
  let turn = 0;
  addEventListener(
    "keydown",
    (event) => {
      const before = shown();
      const mine = ++turn;
      const look = (now) => {
        if (mine !== turn) return;
        const after = shown();
        const changed = after && after.painted !== before?.painted && after.what !== before?.what;
        if (changed) probe.changes.push(now - event.timeStamp);
        else afterFrame(look);
      };
      afterFrame(look);
    },
    true,
  );
})();
