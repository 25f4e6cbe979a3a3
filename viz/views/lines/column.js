// A column of tokens that can be scrolled and walked through.

import { html } from "../../web/core/html.js";
import { isModified } from "../../web/core/keys.js";
import { legible } from "../../web/core/labels.js";
import { useLayoutEffect, useMemo, useRef } from "../../web/vendor/hooks.js";

/** @import {Axis, Text} from "../../web/types" */

/**
 * @param {object} props
 * @param {string} props.name
 * @param {string} props.id of this view alone
 * @param {Axis} props.axis
 * @param {Text} props.text
 * @param {readonly [number, number]} props.range tokens that are in the column
 * @param {number} props.row height of a token, in pixels
 * @param {number} props.height
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
  const { name, id, axis, text, range, row, height, active, pinned, matches, box } = props;
  const at = useRef(range[0]); // the token that the keyboard is at
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
    if (isModified(event)) return;
    const { key } = event;
    const page = Math.max(1, Math.floor(height / row) - 1);
    const moves = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -Infinity,
      End: Infinity,
    };
    if (key in moves) walk(at.current + moves[key]);
    else if (key === "ArrowLeft" || key === "ArrowRight") props.onCross();
    else if (key === "Enter" || key === " ") pin(at.current);
    else if (key === "Escape") props.onLetGo();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const specials = useMemo(() => new Set(text.special), [text]);
  const token = (label, place) => {
    const index = range[0] + place;
    const kinds = [
      specials.has(index) && "hs-special-token",
      index === active && "hs-on",
      matches.has(index) && "hs-match",
    ];
    return html`
      <div
        role="option"
        key=${index}
        id=${`${id}-${index}`}
        class=${["hs-token", ...kinds].filter(Boolean).join(" ")}
        dir="auto"
        title=${label}
        data-index=${index}
        aria-selected=${index === pinned}
        style=${{ height: `${row}px`, lineHeight: `${row}px` }}
      >
        ${legible(label)}
      </div>
    `;
  };
  const list = useMemo(
    () => text.labels.slice(...range).map(token),
    [text, ...range, row, active, pinned, [...matches].join()],
  );
  return html`
    <div
      class=${`hs-column hs-column-${axis}`}
      role="listbox"
      tabindex="0"
      aria-label=${name}
      aria-activedescendant=${active === null ? undefined : `${id}-${active}`}
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
      ${list}
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
