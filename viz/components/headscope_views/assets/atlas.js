// All heads of all layers as small pictures: what to look at next.

import { table } from "./colours.js";
import { draw } from "./raster.js";
import { element, mountViews, say } from "./view.js";

const SMALLEST = 32;
const LARGEST = 56;
const GAP = 2;
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

export const mount = (root, bytes, onEvent) =>
  mountViews(root, bytes, onEvent, (store) => [atlas(store, root)]);

export function atlas(store, parent) {
  const corner = element("div", "hs-corner");
  const top = element("div", "hs-columns", { "aria-hidden": "true" });
  const side = element("div", "hs-rows", { "aria-hidden": "true" });
  const canvas = element("canvas", "hs-thumbs", { role: "img" });
  const chosen = element("div", "hs-frame hs-chosen");
  const pointed = element("div", "hs-frame hs-pointed");
  const body = element("div", "hs-body", {}, canvas, pointed, chosen);
  const grid = element("div", "hs-atlas-grid", {}, corner, top, side, body);
  const scroller = element(
    "div",
    "hs-scroller",
    { tabindex: "0", role: "group", "aria-label": "All heads. Arrow keys choose another one." },
    grid,
  );
  const name = element("div", "hs-name", { "aria-live": "polite" });
  const section = element(
    "section",
    "hs-section hs-atlas",
    {},
    element("h3", "hs-heading", {}, "Every head"),
    element(
      "p",
      "hs-says",
      {},
      "One small picture a head: rows attend, columns are attended to. Choose one to see it large.",
    ),
    scroller,
    name,
  );
  parent.append(section);

  let size = SMALLEST; // of a thumb, CSS pixels
  let drawn = "";
  let framed = "";
  let over = null; // {site, head} under the pointer

  /** The rows: the layers of the chosen kind of attention. */
  const rows = () => store.group();
  const widest = () => Math.max(...rows().map((site) => store.site(site).heads)) + 2;
  const columnOf = (head) =>
    typeof head === "number" ? head : widest() - (head === "mean" ? 2 : 1);
  const headAt = (site, column) => {
    if (column >= widest() - 2) return column === widest() - 2 ? "mean" : "max";
    return column < store.site(site).heads ? column : null;
  };
  const down = (site) => rows().indexOf(site) * (size + GAP);
  /** Gaps in front of a column: before the mean, and between heads that share no keys. */
  function gaps(column) {
    const sharing = store.sharing();
    const groups = sharing > 1 ? Math.floor(Math.min(column, widest() - 3) / sharing) : 0;
    return (column >= widest() - 2 ? 3 * GAP : 0) + groups * 2 * GAP;
  }
  const left = (column) => column * (size + GAP) + gaps(column);

  function at(event) {
    const box = canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const site = rows()[Math.floor((event.clientY - box.top) / (size + GAP))];
    if (site === undefined) return null;
    for (let column = 0; column < widest(); column++)
      if (x >= left(column) && x < left(column) + size + GAP) {
        const head = headAt(site, column);
        return head === null ? null : { site, head };
      }
    return null;
  }

  function place(frame, spot) {
    frame.hidden = !spot;
    if (!spot) return;
    const x = left(columnOf(spot.head)) - 2;
    frame.style.transform = `translate(${x}px, ${down(spot.site) - 2}px)`;
    frame.style.width = frame.style.height = `${size + 4}px`;
  }

  function tell() {
    const spot = over ?? store.selection;
    say(name, `${store.siteName(spot.site)} · ${store.headName(spot.head)}`);
    name.classList.toggle("hs-muted", !over);
  }

  body.onpointermove = (event) => {
    over = at(event);
    body.style.cursor = over ? "pointer" : "";
    place(pointed, over);
    tell();
  };
  body.onpointerleave = () => {
    over = null;
    place(pointed, null);
    tell();
  };
  body.onclick = (event) => {
    const spot = at(event);
    if (spot) store.select(spot);
  };
  scroller.onkeydown = (event) => {
    const { site, head } = store.selection;
    const last = widest() - 1;
    let [row, column] = [rows().indexOf(site), columnOf(head)];
    if (event.key === "Home") column = 0;
    else if (event.key === "End") column = last;
    else if (MOVES[event.key] && !event.altKey && !event.ctrlKey && !event.metaKey) {
      const [below, right] = MOVES[event.key];
      row = Math.min(Math.max(0, row + below), rows().length - 1);
      do column += right;
      while (right && column > 0 && column < last && headAt(rows()[row], column) === null);
      column = Math.min(Math.max(0, column), last);
    } else return;
    event.preventDefault();
    const next = headAt(rows()[row], column) ?? store.site(rows()[row]).heads - 1;
    store.select({ site: rows()[row], head: next });
  };

  function measure() {
    // what the smallest pictures take: the grid gives this column that much if it can
    const beside = side.offsetWidth + gaps(widest() - 1) + 7;
    const need = beside + widest() * (SMALLEST + GAP);
    parent.style.setProperty("--hs-need", `${need}px`);
    const room = scroller.clientWidth - beside;
    const fit = Math.floor(room / widest()) - GAP;
    const tall = Math.floor(520 / rows().length) - GAP;
    size = Math.max(SMALLEST, Math.min(LARGEST, fit, Math.max(tall, SMALLEST)));
  }

  function names() {
    const columns = [...Array(widest() - 2).keys(), "mean", "max"];
    top.replaceChildren(
      ...columns.map((column, i) => {
        const label = element("span", "", {}, String(column));
        label.style.left = `${left(i)}px`;
        label.style.width = `${size}px`;
        if (size < 40 && i >= columns.length - 2) label.style.fontSize = "0.85em";
        return label;
      }),
    );
    side.replaceChildren(
      ...rows().map((site) => {
        const label = element("span", "", {}, `layer ${store.site(site).layer}`);
        label.style.height = `${size + GAP}px`;
        return label;
      }),
    );
  }

  /** Where a picture will be once it has come. */
  function blank(context, column, site, colour) {
    const ratio = devicePixelRatio || 1;
    context.fillStyle = colour;
    const [x, y] = [left(column), down(site)];
    context.fillRect(x * ratio, y * ratio, size * ratio, size * ratio);
  }

  function emphasise() {
    const { site, head } = store.selection;
    [...top.children].forEach((c, i) => c.classList.toggle("hs-on", i === columnOf(head)));
    const row = rows().indexOf(site);
    [...side.children].forEach((c, i) => c.classList.toggle("hs-on", i === row));
  }

  function paint(theme) {
    const ratio = devicePixelRatio || 1;
    const width = left(widest() - 1) + size;
    const height = rows().length * (size + GAP);
    canvas.style.width = body.style.width = top.style.width = `${width}px`;
    canvas.style.height = body.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d");
    const pixels = Math.round(size * ratio);
    rows().forEach((site) => {
      for (let column = 0; column < widest(); column++) {
        const head = headAt(site, column);
        const part = head === null ? null : store.thumb(site, head);
        if (!part) {
          if (head !== null) blank(context, column, site, theme.surface);
          continue;
        }
        const image = context.createImageData(pixels, pixels);
        const [rows, cols] = part.shape;
        const small = { ...part, rows: [0, rows], cols: [0, cols] };
        draw(
          new Uint32Array(image.data.buffer),
          pixels,
          pixels,
          small,
          table(theme.ramp, part.max, store.top(part)),
          { row: 0, col: 0, scaleRow: pixels / rows, scaleCol: pixels / cols },
        );
        context.putImageData(
          image,
          Math.round(left(column) * ratio),
          Math.round(down(site) * ratio),
        );
      }
    });
    const layers = rows().length;
    canvas.setAttribute(
      "aria-label",
      `Attention of every head as small pictures: ${layers} rows (layers), ${widest() - 2} heads ` +
        `each, then their mean and maximum. Chosen: ${store.siteName()}, ${store.headName()}.`,
    );
  }

  function reveal() {
    const { site, head } = store.selection;
    const x = left(columnOf(head));
    const y = down(site);
    const { clientWidth, clientHeight } = scroller;
    const [wide, tall] = [clientWidth - side.offsetWidth, clientHeight - top.offsetHeight];
    if (x < scroller.scrollLeft) scroller.scrollLeft = x - GAP;
    else if (x + size + 2 * GAP > scroller.scrollLeft + wide)
      scroller.scrollLeft = x + size + 2 * GAP - wide;
    if (y < scroller.scrollTop) scroller.scrollTop = y - GAP;
    else if (y + size + GAP > scroller.scrollTop + tall)
      scroller.scrollTop = y + size + GAP - tall;
  }

  function render(theme) {
    if (!scroller.clientWidth) return;
    const { site, head, scale } = store.selection;
    const key = [
      ...[store.trace, rows()[0], store.thumbs?.at, store.thumbs?.area.length, scale, theme.mode],
      ...[scroller.clientWidth, devicePixelRatio],
    ].join();
    if (key !== drawn) {
      drawn = key;
      over = null;
      place(pointed, null);
      if (!side.children.length) names();
      measure();
      names();
      paint(theme);
      framed = "";
    }
    const frame = `${site}/${head}`;
    if (frame !== framed) {
      framed = frame;
      place(chosen, store.selection);
      emphasise();
      reveal();
    }
    tell();
  }

  pointed.hidden = true;
  return { render };
}
