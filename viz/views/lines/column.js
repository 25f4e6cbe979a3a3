// A column of tokens that can be scrolled and walked through: only those in sight are elements.

import { html } from "../../web/core/html.js";
import { legible } from "../../web/core/labels.js";
import { inSight } from "../../web/text/strands.js";
import { useLayoutEffect, useRef } from "../../web/vendor/hooks.js";

/** @import {Axis, Text} from "../../web/types" */

const BESIDE = 4; // tokens that are there above and below the window

/**
 * @param {object} props
 * @param {string} props.name
 * @param {string} props.id of this view alone
 * @param {Axis} props.axis
 * @param {Text} props.text
 * @param {readonly [number, number]} props.range tokens that are in the column
 * @param {number} props.row height of a token, in pixels
 * @param {number} props.height
 * @param {number} props.scroll
 * @param {number | null} props.active
 * @param {number | null} props.pinned
 * @param {ReadonlySet<number>} props.matches
 * @param {{current: HTMLElement | null}} props.box
 * @param {(scroll: number) => void} props.onScroll
 * @param {(index: number | null) => void} props.onPoint
 * @param {(index: number) => void} props.onPin
 * @param {() => void} props.onLetGo
 * @param {() => void} props.onCross goes to the other column
 */
export function Column(props) {
  const { name, id, axis, text, range, row, height, scroll, active, pinned, matches, box } = props;
  const at = useRef(range[0]); // the token that the keyboard is at
  const [first, last] = inSight(scroll, height, row, range[1] - range[0]);
  const [from, to] = [
    Math.max(range[0], range[0] + first - BESIDE),
    Math.min(range[1], range[0] + last + BESIDE),
  ];
  useLayoutEffect(() => props.onScroll(box.current?.scrollTop ?? 0), [text, row, height, ...range]);

  const indexOf = ({ target }) => {
    const token = target.closest?.("[data-index]");
    return token ? Number(token.dataset.index) : null;
  };
  const pin = (index) => {
    at.current = index;
    props.onPin(index);
  };
  const click = (event) => {
    const index = indexOf(event);
    if (index !== null) pin(index);
  };
  const walk = (index) => {
    at.current = Math.min(Math.max(range[0], index), range[1] - 1);
    reveal(box.current, at.current - range[0], row);
    props.onPoint(at.current);
  };
  const press = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(height / row) - 1);
    const [before, after] = [at.current - 1, at.current + 1];
    const places = { ArrowDown: after, ArrowUp: before, Home: range[0], End: range[1] - 1 };
    const pages = { PageDown: at.current + page, PageUp: at.current - page };
    const place = { ...places, ...pages }[event.key];
    if (place !== undefined) walk(place);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") props.onCross();
    else if (event.key === "Enter" || event.key === " ") pin(at.current);
    else if (event.key === "Escape") props.onLetGo();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const token = (index) => {
    const special = text.special.includes(index) ? "hs-special-token" : "";
    const kind = `hs-token ${special} ${index === active ? "hs-on" : ""} ${matches.has(index) ? "hs-match" : ""}`;
    const style = { top: `${(index - range[0]) * row}px`, height: `${row}px`, lineHeight: `${row}px` };
    return html`
      <div
        role="option"
        key=${index}
        id=${`${id}-${index}`}
        class=${kind}
        dir="auto"
        title=${text.labels[index]}
        data-index=${index}
        aria-posinset=${index + 1}
        aria-setsize=${text.labels.length}
        aria-selected=${index === pinned}
        style=${style}
      >
        ${legible(text.labels[index])}
      </div>
    `;
  };
  const isNamed = active !== null && active >= from && active < to; // a token out of sight is no element
  return html`
    <div
      class=${`hs-column hs-column-${axis}`}
      role="listbox"
      tabindex="0"
      aria-label=${name}
      aria-activedescendant=${isNamed ? `${id}-${active}` : undefined}
      style=${{ height: `${height}px` }}
      ref=${box}
      onScroll=${({ currentTarget }) => props.onScroll(currentTarget.scrollTop)}
      onPointerMove=${(event) => props.onPoint(indexOf(event))}
      onPointerLeave=${() => props.onPoint(null)}
      onClick=${click}
      onFocus=${({ currentTarget }) => currentTarget.matches(":focus-visible") && walk(at.current)}
      onBlur=${() => props.onPoint(null)}
      onKeyDown=${press}
    >
      <div class="hs-column-list" style=${{ height: `${(range[1] - range[0]) * row}px` }}>
        ${Array.from({ length: Math.max(0, to - from) }, (_, i) => token(from + i))}
      </div>
    </div>
  `;
}

/**
 * Scrolls a column to one of its tokens.
 *
 * @param {HTMLElement | null} box
 * @param {number} place of the token in the column
 * @param {number} row
 */
export function reveal(box, place, row) {
  if (!box) return;
  const top = place * row;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + row > box.scrollTop + box.clientHeight) box.scrollTop = top + row - box.clientHeight;
}
