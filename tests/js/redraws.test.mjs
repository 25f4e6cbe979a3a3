// Two figures that take turns for good, as Streamlit's chart lets them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { endRedraws } from "../../viz/components/headscope_views/assets/streamlit/redraws.js";

const ENDLESS = 1000;

/** A chart with the part of Plotly that matters: events, the first of which may refuse a redraw. */
class Chart {
  constructor() {
    /** @type {Record<string, (() => boolean | void)[]>} */
    this.listeners = {};
    this.drawn = 0;
  }

  /** @param {string} name @param {() => boolean | void} listener */
  on(name, listener) {
    (this.listeners[name] ??= []).push(listener);
  }

  closest() {
    return this;
  }

  /** Draws; false if that was refused. */
  redraw() {
    const [allowed] = (this.listeners.plotly_beforeplot ?? []).map((listener) => listener());
    if (allowed === false) return false;
    this.drawn += 1;
    for (const listener of this.listeners.plotly_afterplot ?? []) listener();
    return true;
  }
}

/** A document with these charts, which are drawn once; returns what tells it of an input. */
function documentOf(/** @type {Chart[]} */ ...charts) {
  const events = new EventTarget();
  /** @type {any} */
  const scope = globalThis;
  scope.Element = Chart;
  scope.MutationObserver = class {
    /** @param {(changes: {target: Chart}[]) => void} told */
    constructor(told) {
      this.told = told;
    }
    observe() {
      this.told([...charts, ...charts].map((target) => ({ target })));
    }
  };
  endRedraws(/** @type {any} */ ({ defaultView: events, body: {} }));
  return (/** @type {string} */ name) => events.dispatchEvent(new Event(name));
}

/** Redraws until one is refused; how many were not. */
function untilRefused(/** @type {Chart} */ chart) {
  let redraws = 0;
  while (redraws < ENDLESS && chart.redraw()) redraws += 1;
  return redraws;
}

test("redraws without input end, and a later one is drawn", () => {
  const chart = new Chart();
  documentOf(chart);
  assert.equal(untilRefused(chart), 8);
  assert.ok(chart.redraw());
  assert.equal(untilRefused(chart), 7);
});

test("each input allows as many again", () => {
  for (const name of ["pointermove", "keydown", "wheel", "resize"]) {
    const chart = new Chart();
    const tell = documentOf(chart);
    for (let i = 0; i < 5; i += 1) {
      for (let each = 0; each < 6; each += 1) assert.ok(chart.redraw(), name);
      tell(name);
    }
    assert.equal(chart.drawn, 30);
    assert.equal(untilRefused(chart), 8);
  }
});

test("redraws with pauses between them are never refused", (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => (now += 3000));
  const chart = new Chart();
  documentOf(chart);
  assert.equal(untilRefused(chart), ENDLESS);
});

test("each chart is counted on its own, however often it is observed", () => {
  const [one, other] = [new Chart(), new Chart()];
  documentOf(one, other);
  assert.equal(untilRefused(one), 8);
  assert.equal(untilRefused(other), 8);
});
