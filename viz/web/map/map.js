// The transformer as a map of the course: the part a lesson explains is lit, each part leads to its
// lesson. Large, with a list of all lessons beside it, on the page of the course.

import { svg } from "../core/svg.js";
import { changes } from "../core/changes.js";
import { element, setText } from "../core/dom.js";
import { progress, recordOpened } from "../lessons/progress.js";
import { FLOWS, HEIGHT, lessonOf, moved, PARTS, WIDTH } from "./parts.js";

/** @import {MapProps} from "../types" */

const LINKS = "[class*='st-key-lesson_links'] a"; // the page's own: they change the page without a reload
const PHONE = "(max-width: 640px)";

/**
 * @param {HTMLElement} root
 * @param {MapProps} props
 */
export function mount(root, props) {
  const changed = changes();
  const phone = matchMedia(PHONE);
  const fold = () => {
    for (const box of root.querySelectorAll("details")) box.open = !phone.matches;
  };
  phone.addEventListener("change", fold);
  if (props.page) recordOpened(props.page);
  const update = (next) => {
    if (!changed(JSON.stringify(next))) return;
    root.classList.add("hs-control", "hs-course");
    root.classList.toggle("hs-course-large", !next.page);
    root.replaceChildren(...(next.page ? [small(next)] : large(next)));
    fold();
  };
  update(props);
  return {
    update,
    destroy() {
      phone.removeEventListener("change", fold);
      root.replaceChildren();
    },
  };
}

function small(props) {
  const here = props.lessons.find(({ name }) => name === props.page);
  const line = element("p", "hs-map-line", { "aria-hidden": "true" });
  const usual = PARTS.filter(({ id }) => here?.parts.includes(id)).map(({ name }) => name);
  const say = (/** @type {string} */ text) => setText(line, text || usual.join(", ") || "All parts");
  say("");
  const picture = map(props.lessons, here, say, false);
  const summary = element("summary", "", {}, "Where this is in the transformer");
  return element("details", "hs-map-fold", { open: "" }, summary, picture, line);
}

function large({ lessons }) {
  const line = element("p", "hs-map-line", { "aria-hidden": "true" });
  const say = (/** @type {string} */ text) => setText(line, text || "Click a part to open its lesson.");
  say("");
  const picture = map(lessons, undefined, say, true);
  const { opened, last } = progress();
  const list = element("ol", "hs-lessons", {}, ...lessons.map((each) => item(each, lessons, opened.includes(each.name))));
  const lit = (/** @type {Event} */ { type, target }) => {
    const entry = target instanceof Element && target.closest("li");
    const lesson = entry ? lessons[[...list.children].indexOf(entry)] : undefined;
    const on = type !== "pointerout" && type !== "focusout" ? lesson : undefined;
    for (const part of picture.querySelectorAll(".hs-map-part"))
      part.classList.toggle("lit", Boolean(on?.parts.includes(part.getAttribute("data-part") ?? "")));
    for (const [i, each] of [...list.children].entries())
      each.classList.toggle("needed", Boolean(on?.needs.includes(lessons[i].number)));
  };
  for (const kind of ["pointerover", "pointerout", "focusin", "focusout"])
    list.addEventListener(kind, lit);
  return [start(lessons, last), element("div", "hs-map-side", {}, picture, line), list];
}

/** Where to begin, or the lesson that was open last. */
function start(lessons, last) {
  const before = lessons.find(({ name }) => name === last);
  const { name, number, title, minutes } = before ?? lessons[0];
  const word = before ? "Continue where you left off:" : "Start with";
  const anchor = link(name, `${word} lesson ${number}, ${title} (${minutes} min) →`);
  anchor.className = "hs-course-start";
  return anchor;
}

/** A lesson of the list: its title, its topic, how long it takes and what it builds on. */
function item({ name, number, title, line, minutes, needs }, lessons, opened) {
  const tick = element("span", "hs-tick", { "aria-hidden": "true" }, opened ? "✓" : "");
  const heading = link(name, `${number} · ${title}`);
  if (opened) heading.setAttribute("aria-description", "opened");
  const facts = element("span", "hs-lesson-facts", {}, `${minutes} min`);
  needs.forEach((need, i) => {
    const other = lessons[need - 1];
    const to = link(other.name, String(need));
    to.setAttribute("aria-label", `lesson ${need}, ${other.title}`);
    to.title = other.title;
    facts.append(i ? ", " : " · needs ", to);
  });
  const first = element("div", "", {}, heading, " ", tick);
  return element("li", "", {}, first, element("div", "hs-lesson-line", {}, line), facts);
}

function link(name, text) {
  const anchor = element("a", "", { href: name }, text);
  anchor.addEventListener("click", (event) => follow(event, name));
  return anchor;
}

/** Opens a lesson by the page's own link to it; without one, the browser follows the address. */
function follow(event, name) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  const links = /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll(LINKS));
  const anchor = [...links].find(({ pathname }) => pathname.split("/").at(-1) === name);
  if (!anchor) return;
  event.preventDefault();
  anchor.click();
}

function map(lessons, here, say, detailed) {
  const picture = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    class: detailed ? "hs-map detailed" : "hs-map",
    role: "group",
    "aria-label": `Map of the transformer${here ? `; this lesson is about: ${namesOf(here)}` : ""}`,
  });
  const parts = PARTS.map((part) => drawn(part, lessons, here, say, detailed));
  const lines = FLOWS.map((points) => flow(points));
  const [frames, boxes] = [parts.slice(0, 2), parts.slice(2)];
  picture.append(...frames, svg("g", { "aria-hidden": "true" }, ...lines), ...boxes);
  rove(parts.filter((part) => part.hasAttribute("href")));
  return picture;
}

function namesOf({ parts }) {
  return PARTS.filter(({ id }) => parts.includes(id)).map(({ name }) => name).join(", ") || "all parts";
}

function drawn(part, lessons, here, say, detailed) {
  const lit = Boolean(here?.parts.includes(part.id));
  const leads = lit ? here : lessonOf(lessons, part.id);
  const node = svg(leads ? "a" : "g", { class: "hs-map-part", "data-part": part.id });
  node.classList.toggle("lit", lit);
  node.classList.toggle("frame", !part.label);
  const numbers = lessons.filter(({ parts }) => parts.includes(part.id)).map((each) => each.number);
  for (const [i, [x, y, width, height]] of part.boxes.entries()) {
    node.append(svg("rect", { x, y, width, height, rx: part.label ? 3 : 5 }));
    const text = i === 0 || detailed ? (detailed ? part.long ?? part.label : part.label) : part.label;
    if (text) node.append(svg("text", { x: x + width / 2, y: y + height / 2 }, text));
    if (detailed && i === 0 && numbers.length) node.append(badge(part.id === "heads" ? x + 4 : x + width - 2, y + Math.min(1.5, height / 2), numbers));
  }
  if (!leads) return node;
  const label = `${part.name}: ${lit ? "this lesson" : `lesson ${leads.number}, ${leads.title}`}`;
  for (const [name, value] of Object.entries({ href: leads.name, "aria-label": label }))
    node.setAttribute(name, value);
  if (lit) node.setAttribute("aria-current", "page");
  node.addEventListener("click", (event) => follow(event, leads.name));
  for (const kind of ["pointerenter", "focus"])
    node.addEventListener(kind, () => say(lit ? part.name : `${part.name} · lesson ${leads.number}`));
  for (const kind of ["pointerleave", "blur"]) node.addEventListener(kind, () => say(""));
  return node;
}

/** The numbers of the lessons that explain a part. */
function badge(x, y, numbers) {
  const text = numbers.join(" · ");
  const width = 3.4 + 2.3 * text.length;
  return svg(
    "g",
    { class: "hs-map-number" },
    svg("rect", { x: x - width / 2, y: y - 3, width, height: 6, rx: 3 }),
    svg("text", { x, y }, text),
  );
}

function flow(points) {
  const [[beforeX, beforeY], [x, y]] = points.slice(-2);
  const [along, down] = [Math.sign(x - beforeX), Math.sign(y - beforeY)];
  const tip = [-1.6, 1.6].map((side) => `M${x - 2.4 * along - side * down} ${y - 2.4 * down - side * along}L${x} ${y}`);
  const path = `M${points.map((point) => point.join(" ")).join("L")}${tip.join("")}`;
  return svg("path", { class: "hs-map-flow", d: path });
}

/** One stop of the Tab key for all parts; arrow keys go from part to part. */
function rove(parts) {
  const first = Math.max(0, parts.findIndex((part) => part.hasAttribute("aria-current")));
  parts.forEach((part, i) => {
    part.setAttribute("tabindex", i === first ? "0" : "-1");
    part.addEventListener("keydown", (event) => {
      const to = moved(/** @type {KeyboardEvent} */ (event).key, i, parts.length);
      if (to === null) return;
      event.preventDefault(); // the arrow keys of the page go through the steps of a lesson
      part.setAttribute("tabindex", "-1");
      parts[to].setAttribute("tabindex", "0");
      /** @type {SVGElement} */ (parts[to]).focus();
    });
  });
}
