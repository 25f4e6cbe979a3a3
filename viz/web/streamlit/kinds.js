// What the component can show. The module of a kind is loaded when it is first wanted.

/** @import {Mount} from "../types" */

/** @type {Record<string, () => Promise<{mount: Mount<any>}>>} */
export const KINDS = {
  text: () => import("../explore/text.js"),
  image: () => import("../explore/image.js"),
  corpus: () => import("../corpus/corpus.js"),
  site: () => import("../corpus/site.js"),
  build: () => import("../build/build.js"),
  address: () => import("./page.js").then(({ linking: mount }) => ({ mount })),
  given: () => import("../story/given.js"),
  doors: () => import("../story/course.js").then(({ mountDoors: mount }) => ({ mount })),
  rail: () => import("../story/course.js").then(({ mountRail: mount }) => ({ mount })),
  story: () => import("../story/story.js"),
  mode: () => import("./page.js").then(({ marking: mount }) => ({ mount })),
  preload: () => import("./page.js").then(({ preloading }) => ({ mount: preloading(KINDS) })),
  slider: () => import("../controls/slider.js"),
  copy: () => import("../controls/copy.js"),
  choices: () => import("../controls/choices.js"),
  entry: () => import("../controls/entry.js"),
  files: () => import("../controls/files.js"),
  runs: () => import("../controls/runs.js"),
};
