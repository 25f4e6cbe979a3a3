// What is chosen: held within a trace, carried to the next one, to and from a link.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Address, PageLink, queryOf, queryStringOf, startOf } from "../../viz/web/core/link.js";
import * as labels from "../../viz/web/core/labels.js";
import * as selection from "../../viz/web/core/selection.js";
import { baseOf } from "./helpers.mjs";

/** @typedef {import("../../viz/web/types").Selection} Selection */

const FIRST = selection.START;

const PAIR = baseOf([
  { layer: 0, kind: "self", tower: "encoder" },
  { layer: 1, kind: "self", tower: "encoder" },
  { layer: 0, kind: "causal", tower: "decoder" },
  { layer: 1, kind: "causal", tower: "decoder", keys: 5 },
  { layer: 0, kind: "cross", tower: "decoder" },
  { layer: 1, kind: "cross", tower: "decoder" },
]);

/** What is chosen in a trace once this is. @type {(base: any, change: object) => Selection} */
const held = (base, change) => selection.fromLink(base, { ...selection.toLink(base, FIRST), ...change });

/** What is chosen in the next trace. @type {(before: any, after: any, chosen: Selection) => Selection} */
function carry(before, after, chosen) {
  const link = selection.toLink(before, chosen);
  const { site } = selection.fromLink(after, link);
  return selection.fromLink(after, { ...link, ...selection.carried(before, after, chosen, site) });
}

test("site, head and token are held within the trace", () => {
  const base = baseOf([{}, { heads: 2 }]);
  assert.deepEqual(held(base, { layer: 9, head: 7, token: 3 }), { ...FIRST, site: 1, head: 1, token: 3 });
  assert.equal(held(base, { token: 7 }).token, null);
  assert.equal(held(base, { head: "max" }).head, "max");
  const at = { layer: 1, attention: "causal", tower: "decoder", token: 6 };
  assert.equal(held(PAIR, at).token, 6);
  assert.equal(held(PAIR, { ...at, direction: "in" }).token, null);
  assert.equal(held(PAIR, { ...at, partner: 6 }).partner, null);
  assert.equal(held(PAIR, { ...at, partner: 4 }).partner, 4);
});

test("a link names a site by layer, kind and tower, and the nearest one is taken", () => {
  const { sites } = PAIR;
  assert.equal(selection.siteFor(sites, { layer: 1, attention: "cross", tower: "decoder" }), 5);
  assert.equal(selection.siteFor(sites, { layer: 1, attention: "cross", tower: null }), 5);
  assert.equal(selection.siteFor(sites, { layer: 9, attention: "causal", tower: "decoder" }), 3);
  assert.equal(selection.siteFor(sites, { layer: 1, attention: "none", tower: null }), 1);
});

const MASKS = ["to_image", "to_token"].map((name) => `layers.0.${name}`);
const SEVERAL = baseOf([
  { layer: 0, kind: "self", tower: "vision", module: "vision.0", part: 0 },
  { layer: 0, kind: "cross", tower: "masks", module: MASKS[0], part: 0 },
  { layer: 0, kind: "cross", tower: "masks", module: MASKS[1], part: 0 },
  { layer: 1, kind: "cross", tower: "masks", module: "layers.1.to_image", part: 0 },
  { layer: 0, kind: "self", tower: "vision", module: "vision.0", part: 1 },
]);

test("several sites of a layer are told apart by module and part, where that is needed", () => {
  const defaults = { layer: 0, attention: "self", tower: "", module: "", part: null };
  const queries = SEVERAL.sites.map((_, site) => {
    const link = selection.toLink(SEVERAL, { ...FIRST, site });
    assert.equal(selection.fromLink(SEVERAL, link).site, site);
    return queryOf(link, defaults);
  });
  assert.deepEqual(queries, [
    { layer: "0", attention: "self", tower: "vision" },
    { layer: "0", attention: "cross", tower: "masks" },
    { layer: "0", attention: "cross", tower: "masks", module: MASKS[1] },
    { layer: "1", attention: "cross", tower: "masks" },
    { layer: "0", attention: "self", tower: "vision", module: "vision.0", part: "1" },
  ]);
});

test("a module or part that a trace does not have is ignored", () => {
  const at = { layer: 0, attention: "cross", tower: "masks" };
  assert.equal(selection.siteFor(SEVERAL.sites, { ...at, module: "elsewhere", part: 3 }), 1);
  assert.equal(selection.siteFor(SEVERAL.sites, { ...at, layer: 7, module: MASKS[1] }), 3);
  assert.equal(selection.siteFor(PAIR.sites, { ...at, module: MASKS[1], part: 1 }), 4);
});

test("a link that makes no sense becomes the first of everything", () => {
  const wrong = /** @type {any} */ ({ head: "x", token: "2", direction: "up", scale: "layer" });
  assert.deepEqual(selection.fromLink(baseOf([{}]), wrong), FIRST);
  assert.equal(selection.fromLink(baseOf([{}]), {}, { scales: ["layer", "own"] }).scale, "layer");
});

test("a selection goes to its link and back", () => {
  /** @type {Selection} */
  const chosen = {
    ...FIRST,
    ...{ site: 5, head: "mean", token: 3, direction: "in", scale: "own" },
    ...{ form: "lines", shown: "0.2", values: "scores", sinks: "hidden", partner: 5 },
    ...{ plot: "layer.entropy", rank: "-induction" },
    ...{ find: "<b>", block: "ba", outliers: "yes" },
    ...{ method: "flow", output: "3.17", tested: "yes" },
  };
  assert.deepEqual(selection.fromLink(PAIR, selection.toLink(PAIR, chosen)), chosen);
});

test("the link names site, head and token, and what differs from the defaults, of the names these have", () => {
  const link = selection.toLink(PAIR, { ...FIRST, site: 4, token: 2 });
  const defaults = { layer: 0, attention: "self", head: 0, token: null, direction: "out" };
  const named = { layer: "0", attention: "self", head: "0" };
  assert.deepEqual(queryOf(link, defaults), { ...named, attention: "cross", token: "2" });
  assert.deepEqual(queryOf(selection.toLink(PAIR, FIRST), { ...defaults, token: FIRST.token }), named);
  assert.deepEqual(queryOf({ ...link, token: null }, { token: 10 }), {});
  assert.deepEqual(queryOf({ ...link, layer: null, head: null }, { layer: null, head: null }), {});
});

test("in the next trace the same layer, kind and head are chosen", () => {
  const small = baseOf([{ kind: "cross", heads: 2 }], { labels: PAIR.texts[0].labels });
  const carried = carry(PAIR, small, { ...FIRST, site: 5, head: 2, token: 1 });
  assert.deepEqual(carried, { ...FIRST, site: 0, head: 1, token: 1 });
});

test("a pinned token stays while the text up to it does, and is unpinned in another text", () => {
  const text = (/** @type {string} */ words) => {
    const all = ["[CLS]", ...words.split(" "), "[SEP]"];
    return baseOf([{}], { labels: all, special: [0, all.length - 1] });
  };
  const before = text("it was too tired");
  const after = (/** @type {string} */ words, token = 2) =>
    carry(before, text(words), { ...FIRST, token }).token;
  assert.equal(after("it was too wide"), 2);
  assert.equal(after("it was"), 2);
  assert.equal(after("it is too tired"), null); // the same place, and another word
  assert.equal(after("so it was too tired"), null);
  assert.equal(after("it"), null);
  assert.equal(after("something else", 0), 0); // the first special token is in every text
  assert.equal(after("it was too tired and more", 5), null); // where [SEP] was
});

test("what was chosen on pictures goes with them", () => {
  const asked = (/** @type {string} */ pictured) => ({ ...baseOf([{}]), asked: true, pictured });
  const chosen = { ...FIRST, token: 2, area: "0.100.100.400.400", rival: "cat", moment: 3, head: 1 };
  const carried = (/** @type {string} */ pictured) => carry(asked("a"), asked(pictured), chosen);
  assert.deepEqual(carried("a"), chosen);
  assert.deepEqual(carried("b"), { ...FIRST, head: 1 });
});

test("a pinned token stays the same token when tokens are joined to words, and back", () => {
  const tokens = baseOf([{}], { labels: ["[CLS]", "un", "der", "line", "[SEP]"], special: [0, 4] });
  const words = baseOf([{}], {
    labels: ["[CLS]", "underline", "[SEP]"],
    special: [0, 2],
    origins: [[0], [1, 2, 3], [4]],
  });
  const hidden = baseOf([{}], { labels: ["underline"], origins: [[1, 2, 3]] });
  const pinned = { ...FIRST, token: 2 };
  assert.equal(carry(tokens, words, pinned).token, 1);
  assert.equal(carry(words, tokens, { ...FIRST, token: 1 }).token, 3); // its last token
  assert.equal(carry(words, hidden, { ...FIRST, token: 1 }).token, 0);
  assert.equal(carry(words, hidden, { ...FIRST, token: 2 }).token, null);
  assert.equal(carry(tokens, tokens, pinned).token, 2);
});

test("sites are named by their layer, and by kind and tower where there are several", () => {
  assert.equal(labels.siteName(baseOf([{}]), 0), "layer 0");
  assert.equal(labels.siteName(PAIR, 5), "layer 1 · cross");
  const towers = baseOf([{ tower: "text" }, { tower: "image" }]);
  assert.equal(labels.siteName(towers, 1), "layer 1 · image: self");
  const modules = baseOf([{ layer: 0, module: "a.0" }, { layer: 0, module: "b.0" }]);
  assert.equal(labels.siteName(modules, 1), "layer 0 (b.0)");
  const parts = baseOf([{ layer: 0, module: "a.0", part: 0 }, { layer: 0, module: "a.0", part: 1 }]);
  assert.equal(labels.siteName(parts, 1), "layer 0 (part 1)");
  assert.deepEqual(labels.groupOf(PAIR, 3), [2, 3]);
  assert.deepEqual(labels.neighboursOf(PAIR, 3, 0), [2]);
  assert.deepEqual(labels.neighboursOf(baseOf([{}, { heads: 9 }, {}]), 1, 5), []);
  assert.equal(labels.headName(baseOf([{ heads: 6, kv_heads: 2 }]), 0, 4), "head 4 (keys of group 1)");
});

test("labels show blanks and stay literal otherwise", () => {
  const shown = ["", " ", "\t", "a\nb", "<s>", "مرحبا"].map(labels.legible);
  assert.deepEqual(shown, ["∅", "␣", "⇥", "a↵b", "<s>", "مرحبا"]);
});

test("labels side by side lose the space in front where they differ without it", () => {
  assert.deepEqual(labels.distinct([" i", "i", " the", " "]), ["␣i", "i", "the", "␣"]);
});

test("a view starts as it was in this revision, else as Python says, else as it was", () => {
  const defaults = { layer: 0, head: 0 };
  const before = { revision: "n.3", selection: { layer: 5 } };
  const start = { layer: 2 };
  assert.deepEqual(startOf(before, { revision: "n.3", start, defaults }), { layer: 5, head: 0 });
  assert.deepEqual(startOf(before, { revision: "n.4", start, defaults }), { layer: 2, head: 0 });
  assert.deepEqual(startOf(before, { revision: "n.4", start: null, defaults }), { layer: 5, head: 0 });
  assert.deepEqual(startOf(null, { revision: "n.0", start: null, defaults }), defaults);
});

test("an example keeps the form on the screen, and a link brings its own", () => {
  const defaults = { layer: 0, form: "matrix", top: 0 };
  const before = { revision: "n.3", selection: { layer: 5, form: "lines", top: 3 } };
  const example = startOf(before, { revision: "n.4", start: { layer: 2 }, defaults });
  assert.deepEqual(example, { layer: 2, form: "lines", top: 0 });
  const link = startOf(before, { revision: "n.4", start: { layer: 2, form: "matrix", top: 0 }, defaults });
  assert.deepEqual(link, { layer: 2, form: "matrix", top: 0 });
});

test("a layer or head of a link that is not there is named with those shown instead", () => {
  const base = baseOf([{ layer: 0, heads: 3 }, { layer: 1, heads: 2 }]);
  /** @type {(link: object) => string} */
  const said = (link) => selection.missing(base, link, selection.fromLink(base, link));
  assert.equal(said({ layer: 1, head: 1 }), "");
  assert.equal(said({ head: "mean" }), "");
  assert.equal(said({ layer: null, head: null }), "");
  assert.equal(said({ layer: 99, head: 0 }), "There is no layer 99: layer 1, head 0 is shown");
  assert.equal(said({ layer: 99, head: 7 }), "There is no layer 99 and no head 7: layer 1, head 1 is shown");
});

/** A window with an address, whose timers run when told to. */
function fakeWindow() {
  /** @type {[number, () => void][]} */
  let timers = [];
  const state = { time: 1000, written: /** @type {string[]} */ ([]) };
  const location = { pathname: "/text", search: "", hash: "#softmax", loads: 0, reload: () => void location.loads++ };
  const environment = {
    location,
    history: {
      state: null,
      /** @type {(state: unknown, title: string, url: string) => void} */
      replaceState(_state, _title, url) {
        state.written.push(url);
        location.search = /\?[^#]*/.exec(url)?.[0] ?? "";
      },
    },
    /** @type {(action: () => void, delay: number) => void} */
    setTimeout: (action, delay) => void timers.push([state.time + delay, action]),
  };
  /** @param {number} ms */
  const pass = (ms) => {
    state.time += ms;
    const due = timers.filter(([at]) => at <= state.time);
    timers = timers.filter(([at]) => at > state.time);
    for (const [, action] of due) action();
  };
  return { environment, location, written: state.written, pass };
}

/**
 * A view on a page, whose address it writes.
 *
 * @param {Address} address
 * @param {{page?: string, path?: string[], link?: Record<string, string>, session?: string}} props
 */
function viewOn(address, props, root = { isConnected: true }) {
  const link = new PageLink(root, address);
  const all = { page: "text", path: ["/text"], link: {}, revision: "n.0", start: null, defaults: {}, ...props };
  link.update(all);
  return { link, root, choose: (/** @type {Record<string, string>} */ query) => link.record(query, query), all };
}

test("settings and selection are written together, the hash stays", () => {
  const { environment, written, pass } = fakeWindow();
  const { choose } = viewOn(new Address(environment), { path: ["/", "/text"], link: { input: "a & b" } });
  pass(500);
  assert.deepEqual(written, []); // not before the selection is known
  choose({ head: "3" });
  pass(0);
  assert.deepEqual(written, []); // not while the picture is drawn
  pass(200);
  assert.deepEqual(written, ["/text?input=a+%26+b&head=3#softmax"]);
  choose({ head: "3" });
  pass(500);
  assert.equal(written.length, 1); // nothing new
});

test("a page that is added to the history with the query of the one before loses it", () => {
  const { environment, location, written } = fakeWindow();
  /** @type {((change: {navigationType: string, from: {url: string}}) => void)[]} */
  const listeners = [];
  const navigation = {
    addEventListener: (/** @type {string} */ _, /** @type {any} */ listener) => listeners.push(listener),
  };
  void new Address({ ...environment, navigation });
  /** @type {(navigationType: string, before: string, now: [string, string]) => void} */
  const change = (navigationType, before, now) => {
    [location.pathname, location.search] = now;
    for (const listener of listeners) listener({ navigationType, from: { url: `http://a${before}` } });
  };
  change("push", "/positions?base=10", ["/models", "?base=10"]);
  assert.deepEqual(written, ["/models#softmax"]);
  change("push", "/positions?base=10&embed=true", ["/models", "?base=10&embed=true"]);
  assert.deepEqual(written.slice(1), ["/models?embed=true#softmax"]);
  change("push", "/block?step=2", ["/models", "?model=digits"]); // a link to a picture
  change("traverse", "/positions?base=10", ["/models", "?base=10"]);
  change("push", "/positions?base=10", ["/positions", "?base=10"]);
  assert.equal(written.length, 2);
});

test("an embed link stays one, and the last of many choices is written", () => {
  const { environment, location, written, pass } = fakeWindow();
  location.search = "?embed=true";
  const { choose } = viewOn(new Address(environment), {});
  for (let head = 0; head < 100; head++) {
    choose({ head: String(head) });
    pass(10);
  }
  pass(500);
  assert.ok(written.length <= 7);
  assert.equal(written.at(-1), "/text?head=99&embed=true#softmax");
});

test("nothing is written when the element is gone or the address is another page's", () => {
  const { environment, location, written, pass } = fakeWindow();
  const { choose, root } = viewOn(new Address(environment), { link: { a: "1" } });
  choose({});
  location.pathname = "/image";
  pass(500);
  location.pathname = "/text";
  root.isConnected = false;
  choose({ head: "1" });
  pass(500);
  assert.deepEqual(written, []);
});

test("when its session is replaced, the document is loaded again from the URL as it is", () => {
  const { environment, location, written, pass } = fakeWindow();
  const address = new Address(environment);
  const { link, choose, all } = viewOn(address, { link: { input: "typed" }, session: "one" });
  const story = viewOn(address, { page: "text/story" }); // a view that does not know the session
  choose({ head: "3" });
  story.choose({});
  pass(200);
  assert.deepEqual([written.at(-1), location.loads], ["/text?input=typed&head=3#softmax", 0]);
  link.update({ ...all, link: { input: "loaded with" }, session: "two" });
  choose({ head: "0" });
  pass(500);
  assert.deepEqual([written.at(-1), location.loads], ["/text?input=typed&head=3#softmax", 1]);
});

test("two views of one page have both their parts in the link", () => {
  const { environment, location, written, pass } = fakeWindow();
  location.pathname = "/architecture";
  const address = new Address(environment);
  const settings = { path: ["/architecture"], link: { dim: "64" } };
  const diagram = viewOn(address, { page: "architecture/diagram", ...settings });
  diagram.choose({ part: "blocks" });
  const view = viewOn(address, { page: "architecture", ...settings });
  view.choose({ layer: "1" });
  pass(500);
  assert.equal(written.at(-1), "/architecture?dim=64&part=blocks&layer=1#softmax");
  view.link.destroy();
  diagram.choose({});
  pass(500);
  assert.equal(written.at(-1), "/architecture?dim=64#softmax");
});

test("a view mounted anew for a page waits for its own selection", () => {
  const { environment, written, pass } = fakeWindow();
  const address = new Address(environment);
  const before = viewOn(address, {});
  before.choose({ head: "1" });
  const { choose } = viewOn(address, {});
  pass(500);
  assert.deepEqual(written, []);
  before.link.destroy(); // the older view's farewell ends nothing
  choose({ head: "2" });
  pass(500);
  assert.deepEqual(written, ["/text?head=2#softmax"]);
});

test("a link without anything is the path alone", () => {
  assert.equal(queryStringOf([{}, {}]), "");
  assert.equal(queryStringOf([{ a: "1" }, { a: "2", b: "ü" }]), "?a=2&b=%C3%BC");
});

test("what is explained goes to the next model by name, and is dropped where it cannot apply", () => {
  const text = { labels: ["The", "cat", "sat"] };
  /** @type {(model: string, explains: import("../../viz/web/types").Base["explains"], words?: {labels: string[]}) => any} */
  const of = (model, explains, words = text) => ({ ...baseOf([{}], words), model, explains });
  /** @type {(before: any, after: any, output: string) => string} */
  const carried = (before, after, output) =>
    carry(before, after, { ...FIRST, form: "model", method: "chefer", output }).output;
  const [gpt2, llama, bert] = [of("gpt2", "tokens"), of("llama", "tokens"), of("bert", "classes")];

  assert.equal(carried(gpt2, llama, "mat"), "mat");
  for (const placed of ["mat@2", "2.360", "a\n@7"]) {
    assert.equal(carried(gpt2, llama, placed), "", placed);
    assert.equal(carried(gpt2, of("gpt2", "tokens"), placed), placed);
    assert.equal(carried(gpt2, of("gpt2", "tokens", { labels: ["A", "dog"] }), placed), "");
  }
  assert.equal(carried(gpt2, of("gpt2", "tokens", { labels: ["A", "dog"] }), "mat"), "mat");
  assert.equal(carried(gpt2, llama, "@"), "@"); // a token of that name
  assert.equal(carried(gpt2, bert, "mat"), "");
  assert.equal(carried(bert, of("other", "classes"), "pos"), "pos");
  assert.equal(carried(bert, of("other", "classes"), "1.5"), "1.5"); // a class of that name
  assert.equal(carried(of("minilm", "similarity"), gpt2, "A dog lies there"), "");
  assert.equal(carried(gpt2, of("minilm", "similarity"), "mat"), "");
  assert.equal(carried(of("one", "similarity"), of("two", "similarity"), "A dog"), "A dog");
  assert.equal(carried(gpt2, of("maps", "nothing"), "mat"), "");
});
