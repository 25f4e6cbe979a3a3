// The picture of a figure, which is drawn by the scene, and what is done on it.

import { html } from "../core/html.js";
import { useHandlers } from "../core/hooks.js";
import { useEffect, useLayoutEffect, useRef } from "../vendor/hooks.js";
import { SIZE } from "../scene/layout.js";
import { operate } from "../scene/operate.js";
import { Scene, TWEEN_MS } from "../scene/scene.js";
import { tipOf } from "../scene/tip.js";

/** @import {Story} from "./state.js" */

const LEGIBLE = 15.5; // size of text on a phone, in units of a picture 560 wide: 10 pixels
const PRESENTED = 20; // pixels of text that is presented

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
    const tip = tipOf(scene, place.current);
    drawn.current = { scene, tip };
    const end = operate(scene, place.current, actions);
    story.draw();
    return () => {
      end();
      scene.destroy();
      tip.destroy();
    };
  }, [story.figure]);

  useLayoutEffect(() => {
    if (!drawn.current || !numbers) return;
    const { scene, tip } = drawn.current;
    const { marks, said, high } = story.drawn(numbers);
    const isFirst = story.root.dataset.ready === undefined;
    const height = story.isPresented ? high : SIZE[1]; // presented, it is no higher than what is drawn
    scene.root.setAttribute("viewBox", `0 ${(SIZE[1] - height) / 2} ${SIZE[0]} ${height}`);
    const unit = Math.min(scene.root.clientWidth / SIZE[0], scene.root.clientHeight / height);
    scene.least = story.isPresented && unit ? PRESENTED / unit : isNarrow ? LEGIBLE : 0;
    scene.draw(marks, story.dragging || isFirst || isCalm() ? 0 : TWEEN_MS);
    scene.root.setAttribute("aria-label", said);
    tip.refresh();
    story.root.dataset.step = story.moment().step;
    story.root.dataset.ready = "";
  });

  const isTurning = !numbers || story.numbers.seconds > 0;
  return html`<div class=${isTurning ? "story-picture story-turning" : "story-picture"} ref=${place} />`;
}
