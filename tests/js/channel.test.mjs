// A source at the other end of a notebook's channel.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Absent, ChannelSource, Failed, Gone } from "../../viz/web/core/sources.js";

/** @import {Reply} from "../../viz/web/core/sources.js" */

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

const options = () => {
  const controller = new AbortController();
  return { controller, signal: controller.signal, priority: /** @type {const} */ ("high") };
};

test("replies are matched with their requests by id, in any order", async () => {
  const channel = channelOf();
  const source = new ChannelSource(channel, []);
  const [first, second] = ["map?head=1", "map?head=2"].map((path) => source.get(path, options()));
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
  assert.deepEqual([...(await source.get("row?b=2&a=1", options()))], [7]);
  assert.deepEqual(channel.sent, []);
});

test("without a kernel only what is held is answered, and nothing is sent", async () => {
  const channel = channelOf();
  channel.kernel = false;
  const source = new ChannelSource(channel, [["map?head=0", new Uint8Array([7])]]);
  assert.equal(source.remote, false);
  assert.deepEqual([...(await source.get("map?head=0", options()))], [7]);
  await assert.rejects(source.get("map?head=1", options()), Absent);
  assert.deepEqual(channel.sent, []);
  channel.kernel = true;
  assert.equal(source.remote, true);
});

test("a status becomes the error of the other sources", async () => {
  /** @type {[number, new (message: string) => Error][]} */
  const cases = [[404, Gone], [410, Gone], [400, Absent], [500, Failed], [429, Failed]];
  for (const [status, kind] of cases) {
    const channel = channelOf();
    const found = new ChannelSource(channel, []).get("map", options());
    channel.reply({ id: 1, status, reason: "why" });
    await assert.rejects(found, (error) => error instanceof kind && error.message === "why");
  }
});

test("a kernel that does not answer is named, and an aborted request is forgotten", async () => {
  const channel = channelOf();
  const source = new ChannelSource(channel, [], 5);
  await assert.rejects(source.get("map", options()), /No answer from the kernel/);
  const asked = options();
  const found = source.get("map", asked);
  asked.controller.abort();
  await assert.rejects(found, Failed);
  channel.reply({ id: 2, status: 200 }, [1]);
  assert.equal(source.waiting.size, 0);
});
