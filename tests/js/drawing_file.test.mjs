// A drawing as a file, without a browser: what is sent to the server, and what it says.

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { saveDrawing } from "../../viz/components/headscope_views/assets/core/drawing_file.js";

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><text>&lt;b&gt; 🙂</text></svg>';

/** @type {{download: string, href: string, click: () => void}[]} */
let links = [];
/** @type {(url: string, options: RequestInit) => Promise<Response>} */
let answer;
const before = Object.fromEntries(
  ["document", "location", "fetch"].map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]),
);

beforeEach(() => {
  links = [];
  const createElement = () => {
    const link = { download: "", href: "", append() {}, click: () => void links.push(link) };
    return link;
  };
  const location = { origin: "http://127.0.0.1:8501" };
  const fetched = (/** @type {string} */ url, /** @type {RequestInit} */ options) => answer(url, options);
  for (const [name, value] of Object.entries({ document: { createElement }, location, fetch: fetched }))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
});

afterEach(() => {
  for (const [name, old] of Object.entries(before))
    if (old) Object.defineProperty(globalThis, name, old);
    else Reflect.deleteProperty(globalThis, name);
});

test("the PDF is made of the SVG by the app's own server", async () => {
  let sent = "";
  answer = async (url, { method, body }) => {
    assert.equal(url, "http://127.0.0.1:8501/api/pdf");
    assert.equal(method, "POST");
    sent = await /** @type {Blob} */ (body).text();
    return new Response("%PDF");
  };
  await saveDrawing(SVG, [4, 2], "a figure", "pdf");
  assert.equal(sent, SVG);
  assert.deepEqual(links.map(({ download }) => download), ["a-figure.pdf"]);
});

test("an SVG needs no server", async () => {
  answer = () => assert.fail();
  await saveDrawing(SVG, [4, 2], "a figure", "svg");
  assert.deepEqual(links.map(({ download }) => download), ["a-figure.svg"]);
});

test("what the server refuses is told in its own words, and nothing is saved", async () => {
  answer = async () => new Response(`expected less${".".repeat(999)}`, { status: 400 });
  await assert.rejects(saveDrawing(SVG, [4, 2], "a", "pdf"), ({ message }) => {
    assert.match(message, /^expected less/);
    return message.length === 200;
  });
  answer = () => Promise.reject(new TypeError("Failed to fetch"));
  await assert.rejects(saveDrawing(SVG, [4, 2], "a", "pdf"), /There is no connection to the server\./);
  assert.deepEqual(links, []);
});
