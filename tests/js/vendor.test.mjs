// Vendored modules: each is what its package published, but for the one bare import of hooks.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";

const VENDOR = new URL("../../viz/web/vendor/", import.meta.url);
const MODULES = new URL("../../viz/components/node_modules/", import.meta.url);
/** @type {{file: string, package: string, version: string, source: string, sha256: string}[]} */
const MANIFEST = JSON.parse(readFileSync(new URL("manifest.json", VENDOR), "utf8"));

for (const { file, package: name, version, source, sha256 } of MANIFEST)
  test(`${file} is that of ${name} ${version}`, () => {
    const code = readFileSync(new URL(file, VENDOR), "utf8");
    assert.equal(createHash("sha256").update(code).digest("hex"), sha256);
    const installed = new URL(`${name}/`, MODULES);
    assert.equal(JSON.parse(readFileSync(new URL("package.json", installed), "utf8")).version, version);
    const published = readFileSync(new URL(source, installed), "utf8");
    assert.equal(code, published.replace('from"preact"', 'from"./preact.js"'));
  });

test("every vendored module is in the manifest", () => {
  const modules = readdirSync(VENDOR).filter((name) => name.endsWith(".js"));
  assert.deepEqual(modules.sort(), MANIFEST.map(({ file }) => file).sort());
});
