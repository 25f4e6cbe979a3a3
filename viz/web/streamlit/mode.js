// Marks the document as light or dark: on paper, what is dark becomes light.

import { modeOf } from "../core/colours.js";

/** @param {HTMLElement} root */
export function mount(root) {
  const update = () => {
    document.documentElement.dataset.lessonMode = modeOf(root);
  };
  update();
  return { update, destroy: () => delete document.documentElement.dataset.lessonMode };
}
