// What the modules of a folder import, and where: every folder has its rule.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const COMPONENTS = join(ROOT, "viz/components");
const WEB = join(ROOT, "viz/web");
const { ESLint } = createRequire(join(COMPONENTS, "package.json"))("eslint");
const eslint = new ESLint({ cwd: ROOT, overrideConfigFile: join(COMPONENTS, "eslint.config.js") });

/** @param {string} folder @param {string} code */
async function rules(folder, code) {
  const [{ messages }] = await eslint.lintText(code, { filePath: join(WEB, folder, "new.js") });
  return messages.map((/** @type {{ruleId: string}} */ each) => each.ruleId);
}

test("a folder imports what its rule allows, and no other", async () => {
  const folders = readdirSync(WEB, { withFileTypes: true }).filter((each) => each.isDirectory());
  const names = folders
    .map(({ name }) => name)
    .filter((name) => !["__pycache__", "cards", "vendor"].includes(name));
  for (const name of names) {
    assert.deepEqual(await rules(name, 'import "./one.js";'), [], name);
    assert.deepEqual(await rules(name, 'import "../other/one.js";'), ["no-restricted-imports"], name);
    assert.deepEqual(await rules(name, 'void import("./one.js");'), ["no-restricted-syntax"], name);
  }
  assert.deepEqual(await rules("core", 'import "../text/one.js";'), ["no-restricted-imports"]);
  assert.deepEqual(await rules("text", 'import "../core/one.js";'), []);
  assert.deepEqual(await rules("story", 'import "../explore/page.js";'), ["no-restricted-imports"]);
});

test("imports come first, and a module has no state", async () => {
  for (const code of [
    'export const one = 1;\nimport "./one.js";',
    'export { one } from "./one.js";',
    'export * from "./one.js";',
    "export const kept = new Map();",
    "let count = 0;\nexport const next = () => (count += 1);",
  ])
    assert.deepEqual(await rules("core", code), ["no-restricted-syntax"], code);
});
