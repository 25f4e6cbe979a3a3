// A column of tokens that can be scrolled and walked through.

import { html } from "../../web/core/html.js";
import { isModified, rove } from "../../web/core/keys.js";
import { legible } from "../../web/core/labels.js";
import { useLayoutEffect, useMemo } from "../../web/vendor/hooks.js";

/** @import {Axis, Text} from "../../web/types" */

/**
 * @param {object} props
 * @param {string} props.name
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
 * @param {(index: number | null) => void} props.onPoint with the pointer or the focus
 * @param {(index: number) => void} props.onPin
 * @param {() => void} props.onCross goes to the other column
 */
export function Column({ name, axis, text, range, row, height, active, pinned, matches, box, ...on }) {
  useLayoutEffect(() => on.onScroll(box.current?.scrollTop ?? 0), [text, row, height, ...range]);
  const indexOf = ({ target }) => {
    const token = target.closest?.("[data-index]");
    return token ? Number(token.dataset.index) : null;
  };
  const press = (event) => {
    const isAcross = !isModified(event) && ["ArrowLeft", "ArrowRight"].includes(event.key);
    if (!isAcross) return void rove(event);
    event.preventDefault();
    on.onCross();
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
      <button
        type="button"
        role="option"
        key=${index}
        class=${["hs-token", ...kinds].filter(Boolean).join(" ")}
        dir="auto"
        title=${label}
        data-index=${index}
        aria-selected=${index === pinned}
        tabindex=${index === (pinned ?? range[0]) ? "0" : "-1"}
        style=${{ height: `${row}px`, lineHeight: `${row}px` }}
        onClick=${() => on.onPin(index)}
      >
        ${legible(label)}
      </button>
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
      aria-label=${name}
      style=${{ height: `${height}px` }}
      ref=${box}
      onScroll=${({ currentTarget }) => on.onScroll(currentTarget.scrollTop)}
      onPointerMove=${(event) => on.onPoint(indexOf(event))}
      onPointerLeave=${() => on.onPoint(null)}
      onFocusIn=${(event) => on.onPoint(indexOf(event))}
      onFocusOut=${() => on.onPoint(null)}
      onKeyDown=${press}
    >
      ${list}
    </div>
  `;
}
