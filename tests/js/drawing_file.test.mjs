// A drawing as a file, without a browser.

import assert from "node:assert/strict";
import { test } from "node:test";

import { saveDrawing } from "../../viz/web/core/dom.js";

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><text>&lt;b&gt; 🙂</text></svg>';

test("an SVG is offered as it is, under a plain name", () => {
  /** @type {{download: string, href: string, click: () => void}[]} */
  const links = [];
  const createElement = () => {
    const link = { download: "", href: "", append() {}, click: () => void links.push(link) };
    return link;
  };
  const before = Object.getOwnPropertyDescriptor(globalThis, "document");
  Object.defineProperty(globalThis, "document", { value: { createElement }, configurable: true });
  try {
    saveDrawing(SVG, [4, 2], "a figure", "svg");
  } finally {
    if (before) Object.defineProperty(globalThis, "document", before);
    else Reflect.deleteProperty(globalThis, "document");
  }
  assert.deepEqual(links.map(({ download }) => download), ["a-figure.svg"]);
});
