// What the component can show. The module of a kind is loaded when it is first wanted.

/** @import {Mount} from "../types" */

/** @type {Record<string, () => Promise<{mount: Mount<any>}>>} */
export const KINDS = {
  text: () => import("../explore/text.js"),
  image: () => import("../explore/image.js"),
  corpus: () => import("../corpus/corpus.js"),
  site: () => import("../corpus/site.js"),
  build: () => import("../build/build.js"),
  address: () => import("./page_link.js"),
  given: () => import("../story/given.js"),
  doors: () => import("../story/doors.js"),
  rail: () => import("../story/rail.js"),
  story: () => import("../story/story.js"),
  mode: () => import("./mode.js"),
  preload: () => import("./preload.js").then(({ preloading }) => ({ mount: preloading(KINDS) })),
  slider: () => import("../controls/slider.js"),
  copy: () => import("../controls/copy.js"),
  choices: () => import("../controls/choices.js"),
  entry: () => import("../controls/entry.js"),
  files: () => import("../controls/files.js"),
  runs: () => import("../controls/runs.js"),
};
