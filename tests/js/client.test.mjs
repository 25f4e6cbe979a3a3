// Requests of a view: superseded ones are aborted, identical ones shared, failed ones tried again.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Client } from "../../viz/web/core/client.js";
import { Failed, Gone } from "../../viz/web/core/sources.js";
import { HeldSource, settled } from "./helpers.mjs";

const RETRY_MS = 400;

function opened() {
  const source = new HeldSource();
  /** @type {string[]} */
  const log = [];
  const client = new Client(source, {
    received: (path) => log.push(`received ${path}`),
    gone: (path) => log.push(`gone ${path}`),
    changed: () => log.push("changed"),
  });
  return { source, log, client };
}

test("a slot that wants something else aborts its request", async () => {
  const { source, log, client } = opened();
  client.want("map", "map?head=1");
  client.want("map", "map?head=2");
  assert.deepEqual(source.requests.map(({ aborted }) => aborted), [true, false]);
  await source.answer("map?head=2");
  assert.deepEqual(log, ["received map?head=2"]);
  assert.equal(client.state("map"), "done");
});

test("an answered path is not fetched again while the slot stays with it", async () => {
  const { source, client } = opened();
  client.want("map", "a");
  await source.answer("a");
  client.want("map", "a");
  assert.deepEqual(source.paths(), ["a"]);
  client.want("map", "b");
  client.want("map", "a");
  assert.deepEqual(source.paths(), ["a", "b", "a"]);
  client.want("map", null);
  assert.equal(client.state("map"), "none");
});

test("identical requests share one flight, which ends when the last of them gives up", async () => {
  const { source, log, client } = opened();
  client.want("hover", "row");
  client.want("pin", "row");
  assert.deepEqual(source.paths(), ["row"]);
  client.want("hover", null);
  assert.equal(source.requests[0].aborted, false);
  await source.answer("row");
  assert.deepEqual(log, ["received row"]);
  client.want("hover", "other");
  client.want("hover", null);
  assert.equal(source.requests[1].aborted, true);
});

test("the background list is fetched one at a time, with low priority, when all is quiet", async () => {
  const { source, client } = opened();
  client.want("map", "now");
  client.prefetch(["next", "later"], 0);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(source.paths(), ["now"]);
  await source.answer("now");
  assert.deepEqual(source.paths(), ["now", "next"]);
  assert.equal(source.requests[1].priority, "low");
  await source.answer("next");
  assert.deepEqual(source.paths(), ["now", "next", "later"]);
});

test("a wanted path that is fetched in the background is not fetched twice", async () => {
  const { source, log, client } = opened();
  client.prefetch(["a"], 0);
  await new Promise((resolve) => setTimeout(resolve, 5));
  client.want("map", "a");
  assert.deepEqual(source.paths(), ["a"]);
  await source.answer("a");
  assert.deepEqual(log, ["received a"]);
  assert.equal(client.state("map"), "done");
});

test("a new background list replaces the old one and its pause begins again", async () => {
  const { source, client } = opened();
  client.prefetch(["old"], 5);
  client.prefetch(["new"], 10);
  await new Promise((resolve) => setTimeout(resolve, 40));
  assert.deepEqual(source.paths(), ["new"]);
});

test("a background request that is not on the new list is aborted, one that is goes on", async () => {
  const { source, log, client } = opened();
  client.prefetch(["a", "b"], 0);
  await new Promise((resolve) => setTimeout(resolve, 5));
  client.prefetch(["c", "a"], 0);
  assert.equal(source.requests[0].aborted, false);
  client.prefetch(["c"], 0);
  assert.equal(source.requests[0].aborted, true);
  await new Promise((resolve) => setTimeout(resolve, 5));
  await source.answer("c");
  assert.deepEqual(source.paths(), ["a", "c"]);
  assert.deepEqual(log, ["received c"]);
});

test("a failure is tried three times, then told", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { source, log, client } = opened();
  const pause = async () => {
    for (let i = 0; i < 5; i++) await Promise.resolve();
  };
  client.want("map", "a");
  for (const wait of [400, 800]) {
    source.open.get("a")?.reject(new Failed("busy"));
    await pause();
    assert.equal(client.state("map"), "pending");
    t.mock.timers.tick(wait - 1);
    const before = source.paths().length;
    t.mock.timers.tick(1);
    assert.equal(source.paths().length, before + 1);
  }
  source.open.get("a")?.reject(new Failed("busy"));
  await pause();
  assert.equal(client.state("map"), "failed");
  assert.equal(source.paths().length, 3);
  assert.equal(log.at(-1), "changed");
});

test("what is not there is not tried again", async () => {
  const { source, client } = opened();
  client.want("map", "a");
  await source.refuse("a");
  assert.equal(client.state("map"), "absent");
  assert.deepEqual(source.paths(), ["a"]);
});

test("a trace that is gone is told once, and nothing is asked any more", async () => {
  const { source, log, client } = opened();
  client.want("map", "a");
  client.want("hover", "b");
  await source.refuse("a", new Gone("evicted"));
  await source.refuse("b", new Gone("evicted"));
  assert.deepEqual(log, ["gone a"]);
  assert.equal(source.requests[1].aborted, true);
  client.want("map", "c");
  assert.deepEqual(source.paths(), ["a", "b"]);
  assert.equal(client.state("map"), "gone");
});

test("a client that is destroyed aborts everything and says nothing", async () => {
  const { source, log, client } = opened();
  client.want("map", "a");
  client.prefetch(["b"], 0);
  client.destroy();
  await source.answer("a");
  await new Promise((resolve) => setTimeout(resolve, 5));
  await settled();
  assert.deepEqual(log, []);
  assert.deepEqual(source.requests.map(({ path, aborted }) => [path, aborted]), [["a", true]]);
});

test("the slowest request tells how far it is, and can be stopped", async () => {
  const { source, log, client } = opened();
  client.want("row", "model_row?method=alti&index=3");
  client.want("map", "map?head=1");
  await source.answer("map?head=1");
  assert.equal(client.slowest(60_000), null);
  assert.equal(client.slowest(-1)?.name, "row");
  const told = client.progress("model_row?method=alti&index=3");
  await source.answer(
    "progress?of=model_row%3Fmethod%3Dalti%26index%3D3",
    new TextEncoder().encode('{"done": 2, "total": 5}'),
  );
  assert.deepEqual(await told, { done: 2, total: 5 });
  client.stop("row");
  assert.equal(source.requests[0].aborted, true);
  assert.deepEqual([client.state("row"), client.reason("row")], ["absent", "Stopped."]);
  assert.equal(log.at(-1), "changed");
  assert.equal(client.slowest(-1), null);
  client.want("row", "model_row?method=alti&index=3");
  assert.equal(client.state("row"), "absent"); // until it has wanted something else
});

test("an answer that cannot be read is asked for again, and then counts as failed", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const source = new HeldSource();
  let changes = 0;
  const client = new Client(source, {
    received: (_, bytes) => void JSON.parse(new TextDecoder().decode(bytes)),
    gone: () => {},
    changed: () => (changes += 1),
  });
  client.want("row", "row");
  const cut = new TextEncoder().encode('{"values": [');
  /** @param {Uint8Array} bytes */
  const arrive = async (bytes) => {
    source.open.get("row")?.resolve(bytes);
    await Promise.resolve();
    await Promise.resolve();
  };
  for (let tries = 1; tries <= 3; tries++) {
    await arrive(cut);
    assert.equal(client.state("row"), tries < 3 ? "pending" : "failed");
    assert.equal(source.requests.length, tries);
    t.mock.timers.tick(RETRY_MS * 2 ** (tries - 1));
  }
  assert.match(client.reason("row"), /JSON/);
  assert.ok(changes);
  client.want("row", null);
  client.want("row", "row");
  await arrive(new TextEncoder().encode("{}"));
  assert.equal(client.state("row"), "done");
});
