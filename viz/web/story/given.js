// What a question of the quiz gives: a board of its own.

import { modeOf } from "../core/colours.js";
import { html } from "../core/html.js";
import { extentOfPart, fitted } from "../scene/layout.js";
import { setColours, inkOf } from "../scene/marks.js";
import { Scene } from "../scene/scene.js";
import { render } from "../vendor/preact.js";
import { boardPart, described } from "./board.js";

/** @import {Board, StoryTheme} from "../types" */

const LEGIBLE = 10; // pixels of text on a phone

/** @param {HTMLElement} root @param {{board: Board, theme: {light: StoryTheme, dark: StoryTheme}}} first */
export function mount(root, first) {
  const update = (/** @type {typeof first} */ { board, theme }) => {
    const colours = theme[modeOf(root)];
    setColours(root, colours);
    const part = boardPart(board);
    const { wide, high } = extentOfPart(part);
    const look = { marks: fitted(part, inkOf(colours)), said: described(part.tables ?? []), wide, high };
    const act = { patch: () => {}, refuse: () => {}, least: LEGIBLE, isStill: true };
    const style = { maxWidth: `${wide}px` };
    render(
      html`<div class="story-picture" style=${style}><${Scene} ...${{ ...look, ...act }} /></div>`,
      root,
    );
  };
  root.classList.add("story");
  update(first);
  return { update, destroy: () => render(null, root) };
}
