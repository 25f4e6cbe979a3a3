// A picture's marks become elements: in order, and only what changes is written.

import assert from "node:assert/strict";
import test from "node:test";

import { Scene } from "../../viz/web/scene/scene.js";

/** @import {Mark} from "../../viz/web/types" */

let written = 0; // attributes, since the start

/** As much of an element as a picture needs. */
class Element {
  /** @param {string} name */
  constructor(name) {
    this.name = name;
    /** @type {Element | null} */
    this.parent = null;
    /** @type {Element[]} */
    this.children = [];
    /** @type {Record<string, string>} */
    this.attributes = {};
  }

  get firstChild() {
    return this.children[0] ?? null;
  }

  get nextSibling() {
    const { children } = /** @type {Element} */ (this.parent);
    return children[children.indexOf(this) + 1] ?? null;
  }

  /** @param {string} name @param {string} value */
  setAttribute(name, value) {
    written += 1;
    this.attributes[name] = value;
  }

  /** @param {string} name */
  removeAttribute(name) {
    delete this.attributes[name];
  }

  /** @param {Element} child @param {Element | null} before */
  insertBefore(child, before) {
    child.remove();
    const at = before ? this.children.indexOf(before) : this.children.length;
    assert.notEqual(at, -1, "the element to insert before is not a child");
    this.children.splice(at, 0, child);
    child.parent = this;
  }

  remove() {
    if (this.parent) this.parent.children = this.parent.children.filter((each) => each !== this);
    this.parent = null;
  }

  append() {}
  replaceChildren() {}
}

Object.assign(globalThis, {
  document: { createElementNS: (/** @type {string} */ _, /** @type {string} */ name) => new Element(name) },
  requestAnimationFrame: () => 1,
  cancelAnimationFrame: () => {},
});

/** @type {(key: string, more?: Partial<Mark>) => Mark} */
const mark = (key, more = {}) => ({ key, kind: "rect", x: 1, y: 2, w: 3, h: 4, fill: "#112233", ...more });

/** @type {(scene: Scene) => Element[]} */
const shown = (scene) => /** @type {any} */ (scene.root).children;

test("marks stand in the order of the list, whatever stood there before", () => {
  const scene = new Scene([10, 10]);
  scene.draw(["a", "b", "c"].map((key) => mark(key, { x: key.charCodeAt(0) })));
  scene.draw(["c", "d", "a"].map((key) => mark(key, { x: key.charCodeAt(0) })));
  assert.deepEqual(shown(scene).map(({ attributes }) => Number(attributes.x)), [..."cda"].map((key) => key.charCodeAt(0)));
});

test("a mark that changes its kind gets another element in its place", () => {
  const scene = new Scene([10, 10]);
  scene.draw([mark("a"), mark("b"), mark("c")]);
  scene.draw([mark("a"), mark("b", { kind: "circle", r: 2 }), mark("c")], 200);
  assert.deepEqual(shown(scene).map(({ name }) => name), ["rect", "circle", "rect"]);
});

test("what is the same is not written again, and what is gone is taken off", () => {
  const scene = new Scene([10, 10]);
  scene.draw([mark("a", { stroke: "#000000", tip: "a sum" }), mark("b")]);
  const before = written;
  scene.draw([mark("a", { stroke: "#000000", tip: "a sum" }), mark("b")], 200);
  assert.equal(written, before);
  scene.draw([mark("a", { x: 5 }), mark("b")]);
  const [first] = shown(scene);
  assert.equal(first.attributes.x, "5");
  assert.ok(!("stroke" in first.attributes) && !("data-key" in first.attributes));
});

test("what fades out stays where it is until it is gone", () => {
  const scene = new Scene([10, 10]);
  scene.draw([mark("a"), mark("b", { fill: "#445566" }), mark("c")]);
  scene.draw([mark("a"), mark("c")], 200);
  assert.equal(shown(scene)[1].attributes.fill, "#445566");
  scene.draw([mark("a"), mark("c")]);
  assert.equal(shown(scene).length, 2);
});

test("text is at least as large as asked for", () => {
  const scene = new Scene([10, 10]);
  scene.least = 15;
  scene.draw([mark("a", { kind: "text", text: "", size: 12 }), mark("b", { kind: "text", text: "", size: 18 })]);
  assert.deepEqual(shown(scene).map(({ attributes }) => attributes["font-size"]), ["15", "18"]);
});

test("one explained mark is reached by Tab and named by its sum, the others by arrow keys", () => {
  const scene = new Scene([10, 10]);
  const marks = ["a", "b", "c"].map((key, i) => mark(key, { x: 5 * i, tip: `sum of ${key}` }));
  const stops = () => shown(scene).map(({ attributes }) => [attributes.tabindex, attributes["aria-label"]]);
  scene.draw(marks);
  assert.deepEqual(stops(), [["0", "sum of a"], ["-1", undefined], ["-1", undefined]]);
  assert.equal(scene.next("a", 1, 0), "b");
  scene.reach("b");
  assert.deepEqual(stops(), [["-1", undefined], ["0", "sum of b"], ["-1", undefined]]);
  scene.draw([marks[0], mark("b", { press: { label: "B", patch: {} }, tip: "sum of b" }), marks[2]]);
  assert.deepEqual(stops(), [["0", "sum of a"], ["0", "B"], ["-1", undefined]]);
});
