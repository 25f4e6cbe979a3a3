// The state of a view: what is told to the server, and when it is told again.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { State } from "../../viz/web/core/state.js";
import { TextState } from "../../viz/web/text/state.js";
import { baseOf, HeldSource, packed } from "./helpers.mjs";

/** A state of a picture that asks for nothing by itself. @extends {State<any>} */
class Quiet extends State {
  slot = "map";
  keeps() {
    return true;
  }
}

test("a lost trace is reported again until another is to be shown", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  /** @type {[string, unknown][]} */
  const told = [];
  const host = {
    set() {},
    trigger: (/** @type {string} */ name, /** @type {unknown} */ value) => told.push([name, value]),
    source: () => new HeldSource(),
  };
  /** @type {any} */
  const props = { session: "", trace: "a" };
  /** @type {any} */
  const root = {};
  const state = new State(root, props, /** @type {any} */ (host));
  state.open("a");
  const client = state.next?.client;
  assert.ok(client);
  state.gone(client, "a");
  const report = ["trace_lost", "a"];
  assert.deepEqual(told, [report]);
  mock.timers.tick(3000);
  assert.deepEqual(told, [report, report]);
  mock.timers.tick(5999);
  assert.equal(told.length, 2);
  mock.timers.tick(1);
  assert.equal(told.length, 3);
  state.open("c"); // computed again
  mock.timers.tick(600_000);
  assert.equal(told.length, 3);
  mock.timers.reset();
});

test("a picture is awaited from the first request to its weights", async (t) => {
  let now = 1000;
  t.mock.method(performance, "now", () => now);
  const sources = [new HeldSource(), new HeldSource()];
  const host = { set() {}, trigger() {}, source: () => sources[state.trace === "" ? 0 : 1] };
  /** @type {any} */
  const props = { session: "", trace: "a" };
  const state = new Quiet(/** @type {any} */ ({}), props, /** @type {any} */ (host));
  const base = baseOf([{ layer: 0 }]);
  const { next } = (state.open("a"), state);
  assert.ok(next);
  assert.equal(state.awaited, null); // there is no picture that could stay meanwhile
  state.replace(next, /** @type {any} */ ({ header: { base } }));
  assert.equal(state.awaited, null);
  state.open("b");
  assert.ok(state.next);
  assert.equal(state.awaited, 0);
  state.next.client.want("map", "map?site=0&head=0");
  now += 30;
  assert.equal(state.awaited, 30);
  state.replace(state.next, /** @type {any} */ ({ header: { base } }));
  assert.equal(state.awaited, 0); // its weights come right after the base
  now += 5;
  assert.equal(state.awaited, 5);
  await sources[1].answer("map?site=0&head=0");
  assert.equal(state.awaited, null);
  state.destroy();
});

test("a layer and head that a trace has not are shown again in the next that has them", async () => {
  const sources = new Map(["six", "two", "again"].map((name) => [name, new HeldSource()]));
  const host = { set() {}, trigger() {}, source: (/** @type {string} */ trace) => sources.get(trace) };
  /** @type {any} */
  const props = { session: "", page: "", path: [], revision: "1", link: {}, start: null, defaults: {} };
  const state = new Quiet(/** @type {any} */ ({}), props, /** @type {any} */ (host));
  const show = async (/** @type {string} */ trace, /** @type {number} */ layers, /** @type {number} */ heads) => {
    state.update({ ...props, trace });
    const base = baseOf(Array.from({ length: layers }, (_, layer) => ({ layer, heads })));
    await sources.get(trace)?.answer("overview", packed({ base }));
    return [state.selection.site, state.selection.head, state.selection.token];
  };
  await show("six", 6, 4);
  state.select({ site: 4, head: 3, token: 2 });
  assert.deepEqual(await show("two", 2, 2), [1, 1, 2]);
  assert.deepEqual(await show("again", 6, 4), [4, 3, 2]);
  state.destroy();
});

/** A text whose map is here, and nothing chosen yet, once it is known what is worth seeing. */
function unchosen(/** @type {object} */ worth) {
  const source = new HeldSource();
  const host = { set() {}, trigger() {}, source: () => source };
  const props = /** @type {any} */ ({ session: "", trace: "a" });
  const state = new TextState(/** @type {any} */ ({}), props, host);
  state.open("a");
  [state.client, state.baseOrNull, state.next] = [state.next?.client ?? null, baseOf([{ layer: 0 }]), null];
  state.parts = () => /** @type {any} */ ([{}]);
  state.unpinned = true;
  state.answers.set("worth", worth, 1);
  state.arrivals = 1;
  return { state, source };
}

test("the row of a token that is pinned in place of one of another text is fetched", () => {
  const { state, source } = unchosen({ rows: [{ site: 0, head: 0, query: 5 }] });
  assert.equal(state.selection.token, 5);
  const row = source.requests.find(({ path }) => path.startsWith("row?"));
  assert.match(row?.path ?? "", /index=5/);
  assert.equal(row?.aborted, false);
  state.destroy();
});

test("nothing is pinned where no head is worth seeing, and the reason stands in the answer", () => {
  const { state } = unchosen({ why: "the weights are random" });
  assert.equal(state.unpinned, false);
  assert.equal(state.selection.token, null);
  state.destroy();
});
