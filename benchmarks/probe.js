// Runs in every page before the page's own scripts: records when the first text, the first picture,
// and the picture that follows an event were painted, which is the first task after the frame that
// contains it. What is waited for is set before the page loads:
//   lazy     nothing is fetched ahead: what is chosen next has to be fetched
//   same     a picture of the same trace, layer, head and token counts too
//   drawn    what changes of the picture's elements counts, once all requests are answered
// The picture is what counts its paints in data-painted, or a lesson.
(() => {
  const OLD = ".hs-dim, .hs-busy"; // on our last picture while the new one is still on its way
  const PICTURE = "[data-painted], .story[data-ready]";
  const probe = (window.probe = { text: null, picture: null, changes: [], fetched: 0 });
  const { port1, port2 } = new MessageChannel();
  const waiting = [];
  port1.onmessage = () => waiting.splice(0).forEach((task) => task(performance.now()));

  const afterFrame = (task) =>
    requestAnimationFrame(() => {
      waiting.push(task);
      port2.postMessage(null);
    });

  const { fetch } = window;
  let flying = 0;
  window.fetch = (what, options) => {
    if (probe.lazy && options?.priority === "low")
      return new Promise((_, fail) =>
        options.signal?.addEventListener("abort", () => fail(options.signal.reason)),
      );
    const answer = fetch(what, options);
    flying += 1;
    probe.fetched = performance.now();
    const landed = () => {
      flying -= 1;
      probe.fetched = performance.now();
    };
    answer.then(landed, landed);
    return answer;
  };

  let cached = null;
  function picture() {
    if (!cached?.isConnected) {
      cached = find(document);
      const parts = { subtree: true, childList: true, attributes: true, characterData: true };
      if (cached) new MutationObserver(() => (drawn = performance.now())).observe(cached, parts);
    }
    return cached;
  }
  let drawn = 0; // when its elements last changed

  /** The first picture, inside shadow roots too. */
  function find(root) {
    const here = root.querySelector(PICTURE);
    if (here) return here;
    for (const { shadowRoot } of root.querySelectorAll("*")) {
      const inside = shadowRoot && find(shadowRoot);
      if (inside) return inside;
    }
    return null;
  }

  /** What is shown: null while there is nothing or only an old picture. */
  function current() {
    const root = picture();
    if (!root || root.matches(OLD)) return null;
    const { painted, trace, site, head, token } = root.dataset;
    if (probe.drawn) return flying || drawn < probe.fetched ? null : { root, painted: drawn, what: drawn };
    const dim = [...root.querySelectorAll(OLD)];
    if (dim.some((part) => part.getClientRects().length)) return null; // a form that is not hidden
    return { root, painted, what: probe.same ? painted : [trace, site, head, token].join() };
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
    const words = probe.text ? null : firstText();
    if (words) probe.text = { at: wall(now), words };
    const first = probe.picture ? null : picture();
    if (first && !first.matches(OLD) && first.dataset.painted !== "0") probe.picture = { at: wall(now) };
    if (!probe.text || !probe.picture) afterFrame(watch);
  }
  afterFrame(watch);

  // A change that never comes must not be taken for the next one: every event starts anew.
  let turn = 0;
  function began({ timeStamp }) {
    const before = current();
    const mine = ++turn;
    const look = (now) => {
      if (mine !== turn) return;
      const after = current();
      const anew = after && (after.root !== before?.root || after.painted !== before?.painted);
      if (!anew || after.what === before?.what) return afterFrame(look);
      probe.changes.push(now - timeStamp);
    };
    afterFrame(look);
  }
  for (const kind of ["keydown", "input", "pointermove"]) addEventListener(kind, began, true);
})();
