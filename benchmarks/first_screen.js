// What of a page is on the screen: the controls, and the picture. Shadow roots are part of the page.
() => {
  const ROLES = new Set(
    "button link textbox searchbox combobox checkbox radio slider tab menuitem switch".split(" "),
  );
  // choices of data, not controls: tokens, thumbnails, heads worth seeing, and the words that the model says
  const DATA =
    ".hs-answer-chip, .hs-word, .hs-token, .hs-tokens, .hs-tiles, .hs-worth, [role=listbox], [role=grid]";
  const NATIVE = { BUTTON: "button", SUMMARY: "button", TEXTAREA: "textbox", SELECT: "combobox" };
  const INPUTS = { checkbox: "checkbox", radio: "radio", range: "slider", button: "button", file: "" };

  function* deep(root) {
    for (const element of root.querySelectorAll("*")) {
      yield element;
      if (element.shadowRoot) yield* deep(element.shadowRoot);
    }
  }

  function role(element) {
    const said = element.getAttribute("role");
    if (said) return said;
    if (element.matches("a[href]")) return "link";
    if (element.matches("input")) return INPUTS[element.type] ?? "textbox";
    return NATIVE[element.tagName] ?? "";
  }

  function within(element, selector) {
    for (let at = element; at; at = at.parentElement ?? at.getRootNode().host ?? null)
      if (at.matches(selector)) return true;
    return false;
  }

  // the part of a box that lies on the screen, as a share of it, and its area
  function seen(box) {
    const width = Math.min(box.right, innerWidth) - Math.max(box.left, 0);
    const height = Math.min(box.bottom, innerHeight) - Math.max(box.top, 0);
    const area = Math.max(width, 0) * Math.max(height, 0);
    return { area, share: box.width * box.height ? area / (box.width * box.height) : 0 };
  }

  const all = [...deep(document)];
  const shown = (element) =>
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true });

  // a box that Streamlit hides behind its own drawing is as large as its label
  const boxOf = (element) =>
    (element.matches("input[type=checkbox], input[type=radio]") ? element.closest("label") : null)
      ?.getBoundingClientRect() ?? element.getBoundingClientRect();

  const controls = all.filter((element) => {
    if (!ROLES.has(role(element)) || within(element, DATA)) return false;
    const visible = shown(element) || (element.matches("input") && shown(element.parentElement));
    return visible && seen(boxOf(element)).share >= 0.5;
  });

  // the block of a canvas that is painted, without the labels round it
  function painted(canvas) {
    const box = canvas.getBoundingClientRect();
    const { width, height } = canvas;
    const pixels = new Uint32Array(
      canvas.getContext("2d").getImageData(0, 0, width, height).data.buffer,
    );
    const rows = new Uint32Array(height); // how many pixels of each differ from the corner's
    const columns = new Uint32Array(width);
    for (let at = 0; at < pixels.length; at++)
      if (pixels[at] !== pixels[0]) {
        rows[Math.floor(at / width)]++;
        columns[at % width]++;
      }
    // the longest run of those that are at least half full
    const span = (counts) => {
      const least = Math.max(...counts) / 2;
      let best = [0, 0];
      for (let at = 0, start = 0; at < counts.length; at++) {
        if (counts[at] < least) start = at + 1;
        else if (at + 1 - start > best[1] - best[0]) best = [start, at + 1];
      }
      return best;
    };
    const [top, bottom] = span(rows).map((at) => box.top + (at * box.height) / height);
    const [left, right] = span(columns).map((at) => box.left + (at * box.width) / width);
    return new DOMRect(left, top, right - left, bottom - top);
  }

  const size = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return width * height;
  };
  const largest = (selector) =>
    all.filter((element) => element.matches(selector) && shown(element)).sort((a, b) => size(b) - size(a))[0];
  const frame = largest(".hs-picture") ?? largest("figure, [role=figure]");
  const picture = frame?.matches("canvas") ? painted(frame) : frame?.getBoundingClientRect();
  return {
    controls: controls.map((element) =>
      [role(element), element.getAttribute("aria-label") || element.innerText || element.title].join(" "),
    ),
    top: picture ? Math.round(picture.top) : null,
    share: picture ? seen(picture).area / (innerWidth * innerHeight) : 0,
    frame: frame ? seen(frame.getBoundingClientRect()).area / (innerWidth * innerHeight) : 0,
  };
}
