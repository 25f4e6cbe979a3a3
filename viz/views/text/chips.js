// The tokens of a text as it runs, which are shaded, pointed at and chosen.

import { parse, textOn } from "../../web/core/colours.js";
import { html } from "../../web/core/html.js";
import { legible } from "../../web/core/labels.js";
import { Pager } from "../../web/parts/controls.js";
import { useLayoutEffect, useRef, useState } from "../../web/vendor/hooks.js";

/** @import {Text, Theme} from "../../web/types" */

const MOST = 1024; // tokens of a page
/** @type {Record<string, number>} */
const MOVES = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/**
 * @param {object} props
 * @param {string} props.name
 * @param {string} props.kind class of the box
 * @param {Theme} props.theme
 * @param {Text} props.text
 * @param {readonly [number, number]} props.range tokens that are drawn
 * @param {(index: number) => number} [props.shareOf] of the colour, 0 to 1
 * @param {string} [props.colour] of a whole share
 * @param {(index: number) => string} [props.kindsOf] classes of a token
 * @param {(index: number) => string} [props.describe] what is said of a token beside its text
 * @param {number | null} props.chosen
 * @param {number | null} props.revealed what is scrolled to when it changes
 * @param {(index: number | null) => void} props.onPoint
 * @param {((index: number) => void) | null} props.onChoose null where no token can be chosen
 */
export function Chips({
  name,
  kind,
  theme,
  text: { labels, special },
  range,
  shareOf = () => 0,
  colour = "",
  kindsOf = () => "",
  describe = () => "",
  chosen,
  revealed,
  onPoint,
  onChoose,
}) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const { from, to, turn } = usePage(range, revealed);
  useLayoutEffect(() => {
    const chip = /** @type {HTMLElement | null} */ (box.current?.querySelector(`[data-index="${revealed}"]`));
    if (!box.current || !chip) return;
    const { offsetTop: top, offsetHeight: high } = chip;
    const { scrollTop: above, clientHeight: tall } = box.current; // the box is scrolled, never the page
    if (top < above || top + high > above + tall) box.current.scrollTop = top - tall / 3;
  }, [revealed, from]);

  const indexOf = ({ target }) => {
    const chip = target.closest?.("[data-index]");
    return chip ? Number(chip.dataset.index) : null;
  };
  const choose = (event) => {
    const index = indexOf(event);
    if (index !== null) onChoose?.(index);
  };
  const walk = (event) => {
    const index = indexOf(event);
    if (!onChoose || index === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = { Home: from, End: to - 1 }[event.key] ?? index + (MOVES[event.key] ?? 0);
    if (next === index || next < from || next >= to) return;
    event.preventDefault();
    onChoose(next);
    event.currentTarget.querySelector(`[data-index="${next}"]`).focus();
  };

  const firstOf = chosen !== null && chosen >= from && chosen < to ? chosen : from; // by Tab
  const chip = (index) => {
    const share = shareOf(index);
    const ground = share > 0 ? mixed(theme.background, colour, share) : null;
    const style = ground ? `background: rgb(${ground.join()}); color: ${textOn(ground, theme.text)}` : "";
    const word = legible(labels[index]);
    const kinds = `hs-chip ${special.includes(index) ? "hs-special" : ""} ${kindsOf(index)}`;
    const said = describe(index);
    const common = { dir: "auto", class: kinds, style, "data-index": index };
    const words = `${word}, position ${index}${said && `, ${said}`}`;
    if (!onChoose) return html`<span ...${common} title=${said}>${word}</span>`;
    return html`<button
      type="button"
      role="radio"
      ...${common}
      aria-label=${words}
      aria-checked=${index === chosen}
      tabindex=${index === firstOf ? 0 : -1}
    >
      ${word}
    </button>`;
  };
  const all = Array.from({ length: to - from }, (_, i) => chip(from + i));
  const group = onChoose ? { role: "radiogroup", "aria-label": name } : {};
  return html`
    ${
      range[1] - range[0] > MOST &&
      html`<${Pager}
        noun="tokens"
        text=${`tokens ${from}–${to - 1} of ${labels.length}`}
        isFirst=${from === range[0]}
        isLast=${to === range[1]}
        onTurn=${turn}
      />`
    }
    <div
      class=${kind}
      ...${group}
      ref=${box}
      onPointerOver=${(event) => onPoint(indexOf(event))}
      onPointerLeave=${() => onPoint(null)}
      onClick=${choose}
      onKeyDown=${walk}
    >
      ${all}
    </div>
  `;
}

/** The page of a long text that was turned to, or has the token that is scrolled to. */
function usePage(range, revealed) {
  const [page, setPage] = useState(0);
  useLayoutEffect(() => {
    if (revealed !== null && revealed >= range[0]) setPage(Math.floor((revealed - range[0]) / MOST));
  }, [revealed, ...range]);
  const last = Math.max(0, Math.ceil((range[1] - range[0]) / MOST) - 1);
  const from = range[0] + Math.min(page, last) * MOST;
  return { from, to: Math.min(range[1], from + MOST), turn: (by) => setPage(Math.min(page, last) + by) };
}

/**
 * A colour between two others.
 *
 * @param {string} ground
 * @param {string} full
 * @param {number} share
 * @returns {[number, number, number]}
 */
export function mixed(ground, full, share) {
  const [from, to] = [parse(ground) ?? [255, 255, 255], parse(full) ?? [0, 0, 0]];
  const part = Math.min(1, Math.max(0, share));
  const mix = (i) => Math.round(from[i] + (to[i] - from[i]) * part);
  return [mix(0), mix(1), mix(2)];
}
