// Imports of the browser's modules: every folder has its rule, and no module imports one that imports it.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const COMPONENTS = join(ROOT, "viz/components");
const ASSETS = join(ROOT, "viz/web");
const IMPORT = /^(?:import|export)\b[\w\s*{},]*?\bfrom\s+"(\.[^"]+\.js)"|\bimport\("(\.[^"]+\.js)"\)/gm;

/** @type {Map<string, string[]>} the modules that each module imports */
const imports = new Map();
for (const entry of readdirSync(ASSETS, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !entry.name.endsWith(".js")) continue;
  const path = join(entry.parentPath, entry.name);
  const found = readFileSync(path, "utf8").matchAll(IMPORT);
  imports.set(path, [...found].map((each) => join(dirname(path), each[1] ?? each[2])));
}

test("no module imports one that imports it", () => {
  /** @type {Set<string>} */
  const done = new Set();
  /** @param {string} path @param {string[]} above */
  const visit = (path, above) => {
    assert.ok(!above.includes(path), [...above.slice(above.indexOf(path)), path].join(" → "));
    if (done.has(path)) return;
    for (const each of imports.get(path) ?? []) visit(each, [...above, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  const missing = [...imports.values()].flat().filter((path) => !imports.has(path));
  assert.deepEqual(missing, []);
});

test("a folder imports what its rule allows, and no other", async () => {
  const { ESLint } = createRequire(join(COMPONENTS, "package.json"))("eslint");
  const eslint = new ESLint({ cwd: ROOT, overrideConfigFile: join(COMPONENTS, "eslint.config.js") });
  /** @param {string} folder @param {string} code */
  const rules = async (folder, code) => {
    const [{ messages }] = await eslint.lintText(code, { filePath: join(ASSETS, folder, "new.js") });
    return messages.map((/** @type {{ruleId: string}} */ each) => each.ruleId);
  };
  const modules = [...imports.keys()].map((path) => relative(ASSETS, path).split(sep));
  const folders = new Set(modules.filter(({ length }) => length > 1).map(([first]) => first));
  for (const name of folders) {
    assert.deepEqual(await rules(name, 'import "./one.js";'), [], name);
    assert.deepEqual(await rules(name, 'import "../other/one.js";'), ["no-restricted-imports"], name);
    assert.deepEqual(await rules(name, 'void import("./one.js");'), ["no-restricted-syntax"], name);
  }
  assert.deepEqual(await rules("core", 'import "../text/one.js";'), ["no-restricted-imports"]);
  assert.deepEqual(await rules("text", 'import "../core/one.js";'), []);
  assert.deepEqual(await rules("story", 'import "../architecture/draw.js";'), ["no-restricted-imports"]);
});
