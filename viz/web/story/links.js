// Links to lessons that change the page without a reload.

import { html } from "../core/html.js";

/** @import {RailProps} from "../types" */

const LINKS = "[class*='st-key-lesson_links'] a"; // the page's own

/** @param {{name: string, query?: string, children?: any, [attribute: string]: any}} props */
export const LessonLink = ({ name, query = "", children, ...attributes }) =>
  html`<a href=${`${name}${query}`} onClick=${(event) => !query && follow(event, name)} ...${attributes}>${children}</a>`;

/** Opens a lesson as a click on the page's own link to it does. @param {string} name */
export function openLesson(name) {
  const links = /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll(LINKS));
  const anchor = [...links].find(({ pathname }) => pathname.split("/").at(-1) === name);
  anchor?.click();
  return Boolean(anchor);
}

/** Follows a link to a lesson; without one of the page's own, the browser follows the address. */
export function follow(event, name) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (openLesson(name)) event.preventDefault();
}

/** The lessons of the way that a reader has chosen, if this one is on it. @type {(props: RailProps, door: string) => RailProps["lessons"]} */
export const wayOf = ({ page, lessons, short }, door) =>
  door === "short" && short.includes(page) ? lessons.filter(({ name }) => short.includes(name)) : lessons;
