// The text itself, shaded by one token's attention: where it looks, or who looks at it.

import { shade, textOn } from "./colours.js";
import { capital, element, moreIs, mountViews, quoted, say, shown } from "./view.js";

const NAME_MS = 300;

export const mount = (root, bytes, onEvent) =>
  mountViews(root, bytes, onEvent, (store) => [tokens(store, root)]);

export function tokens(store, parent) {
  const says = element("p", "hs-says");
  const outgoing = element("button", "hs-button", { type: "button" }, "looks at");
  const incoming = element("button", "hs-button", { type: "button" }, "is looked at by");
  outgoing.title = "What does the chosen token attend to?";
  incoming.title = "Which tokens attend to the chosen one?";
  const which = element("span", "hs-which");
  const way = element(
    "div",
    "hs-switch",
    { role: "group", "aria-label": "Direction of attention" },
    outgoing,
    incoming,
  );
  const asks = element("div", "hs-choice");
  const answers = element("div", "hs-chips");
  const number = element("p", "hs-read");
  const section = element(
    "section",
    "hs-section hs-text",
    {},
    element(
      "div",
      "hs-row",
      {},
      element("h3", "hs-heading", {}, "Text"),
      element("span", "hs-spring"),
      which,
      way,
    ),
    says,
    asks,
    answers,
    number,
  );
  parent.append(section);

  let built = "";
  let shaded = "";
  let revealed = "";
  let chips = []; // what is shaded
  let pickers = []; // what can be chosen: the same elements where both sides are one text
  let colours = []; // as last given to each chip
  let naming = 0;

  outgoing.onclick = () => store.select({ direction: "out" });
  incoming.onclick = () => store.select({ direction: "in" });

  const outward = () => store.selection.direction !== "in";
  /** The token in question; without a chosen one, the row under the pointer. */
  const token = () =>
    store.selection.token ?? (store.hover ? store.hover[outward() ? "query" : "key"] : null);
  const cell = (index) =>
    outward() ? { query: token(), key: index } : { query: index, key: token() };

  function chip(label, index, special, picks) {
    const kind = picks ? ["button", { type: "button", dir: "auto" }] : ["span", { dir: "auto" }];
    const made = element(kind[0], "hs-chip", kind[1], shown(label));
    made.classList.toggle("hs-special", special);
    made.dataset.index = index;
    if (picks) {
      made.setAttribute("role", "radio");
      made.onclick = () => store.select({ token: index });
    }
    return made;
  }

  function build() {
    const { query, key, one } = store.texts();
    const make = ({ labels, special }, picks) =>
      labels.map((label, i) => chip(label, i, special.includes(i), picks));
    const [asking, answering] = outward() ? [query, key] : [key, query];
    chips = make(answering, one);
    pickers = one ? chips : make(asking, true);
    colours = [];
    answers.replaceChildren(...chips);
    asks.replaceChildren(...(one ? [] : pickers));
    asks.hidden = one;
    for (const box of [asks, answers]) {
      box.removeAttribute("role");
      box.removeAttribute("aria-label");
    }
    const choice = one ? answers : asks;
    choice.setAttribute("role", "radiogroup");
    choice.setAttribute("aria-label", "Choose a token");
    for (const picker of pickers) picker.onkeydown = step;
    for (const made of chips) {
      made.onpointerenter = () => {
        if (store.selection.token !== null) store.point(cell(Number(made.dataset.index)));
      };
      made.onpointerleave = () => store.point(null);
    }
  }

  function step(event) {
    const now = Number(event.currentTarget.dataset.index);
    const last = pickers.length - 1;
    const next = {
      ArrowRight: now + 1,
      ArrowDown: now + 1,
      ArrowLeft: now - 1,
      ArrowUp: now - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const to = Math.min(Math.max(0, next), last);
    store.select({ token: to });
    pickers[to].focus();
  }

  function shadeAll(theme) {
    const asked = token();
    const top = store.top(store.parts()[0] ?? { max: 1 });
    chips.forEach((made, i) => {
      const weight = asked === null ? null : store.weight(cell(i).query, cell(i).key);
      const ground = weight && shade(theme.ramp, weight.value, top);
      const colour = ground ? `rgb(${ground.join()})` : "";
      if (colour === colours[i]) return;
      colours[i] = colour;
      made.style.background = colour;
      made.style.color = ground ? textOn(ground, theme.text) : "";
    });
    clearTimeout(naming);
    naming = setTimeout(nameAll, NAME_MS);
    pickers.forEach((picker, i) => {
      picker.setAttribute("aria-checked", String(i === store.selection.token));
      picker.classList.toggle("hs-asked", i === asked);
      picker.tabIndex = i === (store.selection.token ?? 0) ? 0 : -1;
    });
  }

  /** What a screen reader says of each chip; it can wait until the picture is there. */
  function nameAll() {
    if (!store.base || token() === null) return;
    chips.forEach((made, i) => {
      const { query, key } = cell(i);
      const weight = store.weight(query, key);
      const value = weight ? `, weight ${weight.sign}${weight.value.toFixed(3)}` : "";
      made.setAttribute("aria-label", `${shown(made.textContent)}, position ${i}${value}`);
    });
  }

  /** Scrolls the box of chips, never the page. */
  function reveal(made) {
    const box = made?.parentElement;
    if (!box || box.scrollHeight <= box.clientHeight) return;
    const at = made.getBoundingClientRect().top - box.getBoundingClientRect().top;
    if (at < 0 || at + made.offsetHeight > box.clientHeight)
      box.scrollTop += at - box.clientHeight / 3;
  }

  function sentence(theme) {
    const asked = token();
    const { query, key } = store.labels();
    const label = asked === null ? [] : quoted((outward() ? query : key)[asked]);
    const where = capital(`${store.siteName().replace(" · ", ", ")}, ${store.headName()}`);
    const more = `${moreIs(theme.mode)} = more weight.`;
    if (asked === null)
      say(says, `${where}: choose a token to see ${outward() ? "where it looks" : "who looks at it"}.`);
    else if (outward()) say(says, `${where}: where `, label, ` looks. ${more}`);
    else say(says, `${where}: who looks at `, label, `. ${more}`);
    say(which, asked === null ? "" : quoted(label[1].textContent));
  }

  function read() {
    const asked = token();
    const hover = store.hover;
    const { query, key } = store.labels();
    const ours = hover && asked === hover[outward() ? "query" : "key"];
    chips.forEach((made, i) =>
      made.classList.toggle("hs-over", Boolean(ours) && i === hover[outward() ? "key" : "query"]),
    );
    const weight = ours && store.weight(hover.query, hover.key);
    if (!weight) {
      say(number, asked === null ? "" : "Point at a token to read its weight.");
      return;
    }
    const value = weight.sign ? `${weight.sign} ${weight.value.toFixed(3)}` : weight.value.toFixed(5);
    say(number, quoted(query[hover.query]), " → ", quoted(key[hover.key]), `: ${value}`);
  }

  function render(theme) {
    const { site, head, token: chosen, direction, scale } = store.selection;
    const text = [store.trace, direction, JSON.stringify(store.labels())].join();
    if (text !== built) {
      built = text;
      shaded = "";
      build();
    }
    outgoing.setAttribute("aria-pressed", String(outward()));
    incoming.setAttribute("aria-pressed", String(!outward()));
    const missing = !store.parts().length;
    answers.classList.toggle("hs-dim", missing && chosen !== null);
    const exact = token() !== null && store.exactRow(outward() ? "query" : "key", token());
    const key = [site, head, chosen, token(), scale, theme.mode, Boolean(exact), missing].join();
    if (key !== shaded && !missing) {
      shaded = key;
      shadeAll(theme);
    }
    if (`${text}/${chosen}` !== revealed) {
      revealed = `${text}/${chosen}`;
      reveal(pickers[chosen ?? 0]);
    }
    sentence(theme);
    read();
  }

  return { render, late: true, destroy: () => clearTimeout(naming) };
}
