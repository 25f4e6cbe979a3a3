// The picture of a figure, which is drawn by the scene, and what is done on it.

import { html } from "../core/html.js";
import { useHandlers } from "../core/hooks.js";
import { useEffect, useLayoutEffect, useRef } from "../vendor/hooks.js";
import { fitted } from "../scene/layout.js";
import { inkOf } from "../scene/ink.js";
import { operate } from "../scene/operate.js";
import { Scene, TWEEN_MS } from "../scene/scene.js";
import { tipOf } from "../scene/tip.js";

/** @import {Story} from "./state.js" */

const LEGIBLE = 15.5; // size of text on a phone, in units of a picture 560 wide: 10 pixels

/** Whether nothing may move by itself. */
const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** @param {{story: Story, isNarrow: boolean}} props the picture stays, dimmed, until the numbers of another step come */
export function Picture({ story, isNarrow }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const drawn = useRef(/** @type {{scene: Scene, tip: ReturnType<typeof tipOf>} | null} */ (null));
  const numbers = story.numbersOf();
  const actions = useHandlers({
    patch: (patch, dragged) => story.patch(patch, dragged),
    tip: (key, named) => drawn.current?.tip.show(key, named),
    refuse: (reason) => story.refuse(reason),
  });

  useEffect(() => {
    if (!place.current || !story.figure) return undefined;
    const scene = new Scene();
    place.current.prepend(scene.root);
    drawn.current = { scene, tip: tipOf(scene, place.current) };
    const end = operate(scene, place.current, actions);
    story.draw();
    return () => {
      end();
      scene.destroy();
    };
  }, [story.figure]);

  useLayoutEffect(() => {
    if (!drawn.current || !numbers) return;
    const { scene, tip } = drawn.current;
    const { part, said } = story.partOf(numbers);
    const ink = inkOf(story.colours());
    const isFirst = story.root.dataset.ready === undefined;
    scene.least = isNarrow ? LEGIBLE : 0;
    scene.draw(fitted(part, ink), story.dragging || isFirst || isCalm() ? 0 : TWEEN_MS);
    scene.root.setAttribute("aria-label", said);
    tip.refresh();
    story.root.dataset.step = story.moment().step;
    story.root.dataset.ready = "";
  });

  const isTurning = !numbers || story.numbers.seconds > 0;
  return html`<div class=${isTurning ? "story-picture story-turning" : "story-picture"} ref=${place} />`;
}
