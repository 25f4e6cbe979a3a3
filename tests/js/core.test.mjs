// The pieces that need no document: cache, paths, sources, packing, colours, throttle.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Cache } from "../../viz/web/core/cache.js";
import * as colours from "../../viz/web/core/colours.js";
import { unpack } from "../../viz/web/core/sources.js";
import * as sources from "../../viz/web/core/sources.js";
import { throttle } from "../../viz/web/controls/control.js";
import { packed } from "./helpers.mjs";

test("a cache drops what was used least recently once it is full", () => {
  const cache = new Cache(10);
  cache.set("a", 1, 4);
  cache.set("b", 2, 4);
  assert.equal(cache.get("a"), 1);
  cache.set("c", 3, 4);
  assert.deepEqual(["a", "b", "c"].map((key) => cache.has(key)), [true, false, true]);
  assert.equal(cache.bytes, 8);
  assert.equal(cache.get("b"), null);
});

test("a cache keeps the newest value whatever its size, and counts a replaced one once", () => {
  const cache = new Cache(10);
  cache.set("a", 1, 6);
  cache.set("a", 2, 7);
  assert.equal(cache.bytes, 7);
  cache.set("b", 3, 50);
  assert.deepEqual([cache.has("a"), cache.get("b"), cache.bytes], [false, 3, 50]);
  cache.set("c", 4, 1);
  assert.deepEqual([cache.has("b"), cache.bytes], [false, 1]);
});

test("a message is unpacked from an unaligned view, its sections aligned", () => {
  const message = packed({ rows: [] }, [0, 0, 128, 63, 7]);
  const shifted = new Uint8Array(message.length + 3);
  shifted.set(message, 3);
  const { header, area } = unpack(shifted.subarray(3));
  assert.deepEqual(header.rows, []);
  assert.equal(area.byteOffset % 4, 0);
  assert.equal(new Float32Array(area.buffer, area.byteOffset, 1)[0], 1);
  assert.equal(area[4], 7);
});

test("a message of another version is refused", () => {
  assert.throws(() => unpack(packed({ v: 2 })), /expected message version 1, received 2/);
});

test("a path says its query in the order given; in canonical form in alphabetical order", () => {
  const path = sources.pathOf("map", { site: 0, head: "mean", rows: "0-5" });
  assert.equal(path, "map?site=0&head=mean&rows=0-5");
  assert.equal(sources.canonical(path), "map?head=mean&rows=0-5&site=0");
  assert.equal(sources.canonical("map?sinks=shown&values=scores&site=0"), "map?site=0&values=scores");
  assert.equal(sources.canonical("model?method=rollout"), sources.canonical("model"));
  assert.equal(sources.pathOf("overview"), "overview");
});

const options = { signal: new AbortController().signal, priority: /** @type {const} */ ("high") };

test("a file answers what it holds, whatever the order of the query, and nothing else", async () => {
  const bytes = new Uint8Array([1, 2]);
  const source = new sources.EmbeddedSource([["map?head=3&site=0", bytes]]);
  assert.equal(source.remote, false);
  assert.equal(await source.get("map?site=0&head=3"), bytes);
  await assert.rejects(source.get("map?site=0&head=4"), sources.Absent);
});

test("the server's refusals are told apart, and its session is named", async (t) => {
  /** @type {[string, RequestInit | undefined][]} */
  const calls = [];
  let status = 200;
  t.mock.method(globalThis, "fetch", async (/** @type {string} */ url, /** @type {RequestInit} */ init) => {
    calls.push([url, init]);
    const body = { 200: "ab", 204: null }[status];
    return new Response(body === undefined ? "one line" : body, { status });
  });
  const source = new sources.HttpSource("http://here/api/trace/x/", "token");
  assert.deepEqual([...(await source.get("row?site=0", options))], [97, 98]);
  assert.equal(calls[0][0], "http://here/api/trace/x/row?site=0");
  assert.deepEqual(calls[0][1]?.headers, { "X-Headscope-Session": "token" });
  assert.equal(calls[0][1]?.priority, "high");
  /** @type {[number, typeof sources.Gone][]} */
  const kinds = [
    [404, sources.Gone],
    [410, sources.Gone],
    [204, sources.Absent],
    [400, sources.Absent],
    [403, sources.Absent],
    [429, sources.Failed],
    [500, sources.Failed],
  ];
  for (const [next, kind] of kinds) {
    status = next;
    await assert.rejects(source.get("overview", options), kind);
  }
  t.mock.method(globalThis, "fetch", async () => {
    throw new TypeError("offline");
  });
  await assert.rejects(source.get("overview", options), sources.Failed);
});

test("colours are read, and text on any ground is legible", () => {
  assert.deepEqual(colours.parse("#4a4fc9"), [74, 79, 201]);
  assert.deepEqual(colours.parse("#fff"), [255, 255, 255]);
  assert.deepEqual(colours.parse(" rgb(1, 2, 3)"), [1, 2, 3]);
  assert.equal(colours.parse("red"), null);
  assert.equal(colours.contrast([0, 0, 0], [255, 255, 255]), 21);
  for (let level = 0; level < 256; level += 5) {
    const ground = /** @type {[number, number, number]} */ ([level, level, level]);
    const text = colours.parse(colours.textOn(ground, "#141821"));
    assert.ok(text && colours.contrast(ground, text) >= 4.5);
  }
});

test("a number has the colour at its square root on the scale, which zero halves where it is signed", () => {
  const ramp = Uint8Array.from({ length: 768 }, (_, i) => Math.floor(i / 3));
  const bothWays = ramp.toReversed();
  /** @type {[number, number, boolean, number][]} */
  const cases = [[0.25, 1, false, 128], [9, 1, false, 255], [-1, 1, false, 0], [-1, 1, true, 255], [1, 1, true, 0], [0, 1, true, 127]];
  for (const [value, top, isSigned, level] of cases)
    assert.deepEqual(colours.colourOf({ ramp, bothWays }, value, top, isSigned), [level, level, level]);
  assert.deepEqual([-1, 0, 0.25, 1].map((value) => colours.levelOf(value, 1, true)), [0, 0.5, 0.75, 1]);
  assert.equal(colours.pixelOf([1, 2, 3]), 0xff030201);
});

test("the first value is sent at once, then the newest after the pause, the last one always", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let time = 0;
  /** @param {number} ms */
  const pass = (ms) => {
    time += ms;
    t.mock.timers.tick(ms);
  };
  /** @type {number[]} */
  const sent = [];
  const send = (/** @type {number} */ value) => sent.push(value);
  const { put, flush, stop } = throttle(send, 60, () => time);
  for (const value of [1, 2, 3]) put(value);
  assert.deepEqual(sent, [1]);
  pass(59);
  assert.deepEqual(sent, [1]);
  pass(1);
  assert.deepEqual(sent, [1, 3]);
  pass(60);
  put(4);
  put(5);
  flush();
  assert.deepEqual(sent, [1, 3, 4, 5]);
  put(6);
  stop();
  pass(1000);
  assert.deepEqual(sent, [1, 3, 4, 5]);
});
