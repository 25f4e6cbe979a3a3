// The component as Streamlit calls it: mounted, given new props, taken away or not.

import assert from "node:assert/strict";
import { test } from "node:test";

import { KINDS } from "../../viz/web/streamlit/kinds.js";
import show from "../../viz/components/headscope_views/assets/main.js";
import { settled } from "./helpers.mjs";

const ASSETS = new URL("../../viz", import.meta.url).pathname;
globalThis.location = /** @type {any} */ ({ origin: "file://" });

/** What stands in for the browser's classes here. */
class FakeShadowRoot {
  /** @type {unknown[]} */
  adoptedStyleSheets = [];
}
class FakeSheet {
  /** @param {string} text */
  async replace(text) {
    return text;
  }
}
globalThis.ShadowRoot = /** @type {any} */ (FakeShadowRoot);
globalThis.CSSStyleSheet = /** @type {any} */ (FakeSheet);

/**
 * A place on a page, and what happened in it.
 *
 * @param {FakeShadowRoot | {}} within
 */
function place(within = {}) {
  /** @type {unknown[]} */
  const log = [];
  const root = /** @type {any} */ ({ isConnected: true, textContent: "", getRootNode: () => within });
  /** @param {string} name */
  const kind = (name) => {
    KINDS[name] = async () => ({
      mount: (_root, props, host) => {
        log.push([`${name} mounted`, props.n]);
        host.set("value", props.n);
        host.trigger("event", props.n);
        return {
          update: (next) => log.push(["updated", next.n]),
          destroy: () => log.push("destroyed"),
        };
      },
    });
  };
  kind("one");
  kind("other");
  const parentElement = /** @type {any} */ ({ querySelector: () => root });
  /**
   * @param {string} name
   * @param {number} n
   * @param {string} [assets]
   */
  const call = (name, n, assets = ASSETS) =>
    show({
      parentElement,
      data: [{ kind: name, assets, n }],
      setStateValue: (value, sent) => log.push([`set ${value}`, sent, n]),
      setTriggerValue: (event, sent) => log.push([`trigger ${event}`, sent, n]),
    });
  return { root, log, call };
}

test("a component is mounted with the newest props and updated with later ones", async () => {
  const { log, call } = place();
  call("one", 1);
  call("one", 2); // before the module has come
  await settled();
  assert.deepEqual(log, [["one mounted", 2], ["set value", 2, 2], ["trigger event", 2, 2]]);
  call("one", 3);
  assert.deepEqual(log.at(-1), ["updated", 3]);
});

test("a cleanup ends a view that has left the page, and only such a one", async () => {
  const { root, log, call } = place();
  const overtaken = call("one", 1);
  await settled();
  overtaken();
  await settled();
  assert.ok(!log.includes("destroyed"));
  root.isConnected = false;
  overtaken();
  await settled();
  assert.equal(log.at(-1), "destroyed");
});

test("another kind in the same place takes over", async () => {
  const { log, call } = place();
  call("one", 1);
  await settled();
  call("other", 2);
  await settled();
  assert.deepEqual(log.slice(3, 5), ["destroyed", ["other mounted", 2]]);
});

test("a module that cannot be loaded leaves a line", async () => {
  KINDS.broken = () => Promise.reject(new Error("offline"));
  for (const name of ["broken", "unknown"]) {
    const { root, call } = place();
    call(name, 1);
    await settled();
    assert.match(root.textContent, /could not be loaded/);
  }
});

test("a view is mounted once its style sheet applies, which is fetched once for all", async () => {
  /** @type {((answer: any) => void)[]} */
  const answers = [];
  globalThis.fetch = () => new Promise((resolve) => answers.push(resolve));
  const roots = [new FakeShadowRoot(), new FakeShadowRoot()];
  const [{ call }, { log, call: callOther }] = roots.map(place); // kinds report to the last place
  call("one", 1);
  callOther("one", 2);
  await settled();
  assert.deepEqual(log, []);
  assert.equal(answers.length, 1);
  answers[0]({ ok: true, text: async () => ".rules" });
  await settled();
  const mounted = log.map(String).filter((each) => each.startsWith("one mounted"));
  assert.deepEqual(mounted, ["one mounted,1", "one mounted,2"]);
  assert.deepEqual(roots.map((each) => each.adoptedStyleSheets), [[".rules"], [".rules"]]);
});

test("without its style sheet a view leaves a line, and the next props try again", async () => {
  const other = `${ASSETS}/../viz`; // a path that has not been fetched
  globalThis.fetch = async () => /** @type {any} */ ({ ok: false, status: 503 });
  const { root, log, call } = place(new FakeShadowRoot());
  call("one", 1, other);
  await settled();
  assert.deepEqual(log, []);
  assert.match(root.textContent, /could not be loaded/);
  globalThis.fetch = async () => /** @type {any} */ ({ ok: true, text: async () => "" });
  call("one", 2, other);
  await settled();
  assert.deepEqual(log[0], ["one mounted", 2]);
});
