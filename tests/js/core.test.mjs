// The pieces that need no document: cache, paths, sources, packing, colours, throttle, keys.

import assert from "node:assert/strict";
import { test } from "node:test";

import { throttle } from "../../viz/web/controls/control.js";
import { Cache } from "../../viz/web/core/cache.js";
import { undoOf } from "../../viz/web/core/keys.js";
import { Absent, ChannelSource, Failed, Gone, unpack } from "../../viz/web/core/sources.js";
import { packed } from "./helpers.mjs";
import * as colours from "../../viz/web/core/colours.js";
import * as sources from "../../viz/web/core/sources.js";

/** @import {Reply} from "../../viz/web/core/sources.js" */

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

test("Ctrl or Command with Z undoes; with Shift too, or with Y, redoes", () => {
  const of = (/** @type {string} */ key, /** @type {string[]} */ ...held) =>
    undoOf(/** @type {any} */ ({ key, ...Object.fromEntries(["ctrl", "meta", "shift", "alt"].map((name) => [`${name}Key`, held.includes(name)])) }));
  assert.deepEqual([of("z", "ctrl"), of("z", "meta")], ["undo", "undo"]);
  assert.deepEqual([of("Z", "ctrl", "shift"), of("y", "ctrl")], ["redo", "redo"]);
  assert.deepEqual([of("z"), of("z", "ctrl", "alt"), of("z", "ctrl", "meta"), of("x", "ctrl")], [null, null, null, null]);
});

/** A channel that keeps what is sent, and answers when it is told to. */
function channelOf() {
  /** @type {{id: number, path: string}[]} */
  const sent = [];
  /** @type {(reply: Reply, buffers: DataView[]) => void} */
  let listener = () => {};
  return {
    sent,
    kernel: true,
    live() {
      return this.kernel;
    },
    send: (/** @type {{id: number, path: string}} */ message) => sent.push(message),
    listen: (/** @type {(reply: Reply, buffers: DataView[]) => void} */ given) => (listener = given),
    /** @type {(reply: Reply, bytes?: number[]) => void} */
    reply: (reply, bytes) => listener(reply, bytes ? [new DataView(new Uint8Array(bytes).buffer)] : []),
  };
}

const asking = () => {
  const controller = new AbortController();
  return { controller, signal: controller.signal, priority: /** @type {const} */ ("high") };
};

test("replies are matched with their requests by id, in any order", async () => {
  const channel = channelOf();
  const source = new ChannelSource(channel, []);
  const [first, second] = ["map?head=1", "map?head=2"].map((path) => source.get(path, asking()));
  assert.deepEqual(channel.sent, [
    { id: 1, path: "map?head=1" },
    { id: 2, path: "map?head=2" },
  ]);
  channel.reply({ id: 2, status: 200 }, [2]);
  channel.reply({ id: 1, status: 200 }, [1, 1]);
  channel.reply({ id: 1, status: 200 }, [9]); // a second reply is nobody's
  assert.deepEqual([...(await first)], [1, 1]);
  assert.deepEqual([...(await second)], [2]);
});

test("what was there from the start is not asked for", async () => {
  const channel = channelOf();
  const source = new ChannelSource(channel, [["row?a=1&b=2", new Uint8Array([7])]]);
  assert.deepEqual([...(await source.get("row?b=2&a=1", asking()))], [7]);
  assert.deepEqual(channel.sent, []);
});

test("without a kernel only what is held is answered, and nothing is sent", async () => {
  const channel = channelOf();
  channel.kernel = false;
  const source = new ChannelSource(channel, [["map?head=0", new Uint8Array([7])]]);
  assert.equal(source.remote, false);
  assert.deepEqual([...(await source.get("map?head=0", asking()))], [7]);
  await assert.rejects(source.get("map?head=1", asking()), Absent);
  assert.deepEqual(channel.sent, []);
  channel.kernel = true;
  assert.equal(source.remote, true);
});

test("a status becomes the error of the other sources", async () => {
  /** @type {[number, new (message: string) => Error][]} */
  const cases = [[404, Gone], [410, Gone], [400, Absent], [500, Failed], [429, Failed]];
  for (const [status, kind] of cases) {
    const channel = channelOf();
    const found = new ChannelSource(channel, []).get("map", asking());
    channel.reply({ id: 1, status, reason: "why" });
    await assert.rejects(found, (error) => error instanceof kind && error.message === "why");
  }
});

test("a kernel that does not answer is named, and an aborted request is forgotten", async () => {
  const channel = channelOf();
  const source = new ChannelSource(channel, [], 5);
  await assert.rejects(source.get("map", asking()), /No answer from the kernel/);
  const asked = asking();
  const found = source.get("map", asked);
  asked.controller.abort();
  await assert.rejects(found, Failed);
  channel.reply({ id: 2, status: 200 }, [1]);
  assert.equal(source.waiting.size, 0);
});
