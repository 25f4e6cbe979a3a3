import js from "@eslint/js";
import globals from "globals";

const WEB = "viz/web";
const VIEWS = "viz/views";
const COURSE = "viz/course";
// What a folder's modules import beside its own: arrows all go one way, to core. The forms that text/
// makes are on their way to viz/views.
const IMPORTS = {
  core: ["vendor"],
  parts: ["core", "painting", "vendor"],
  painting: ["core", "vendor"],
  controls: ["core", "vendor"],
  lab: ["build", "core", "methods", "painting", "parts", "text", "vendor", "../views"],
  text: ["core", "methods", "parts", "painting", "vendor", "../views"],
  image: ["core", "painting", "parts", "text", "vendor"],
  explore: ["core", "image", "lab", "methods", "painting", "parts", "text", "vendor", "../views"],
  corpus: ["core", "parts", "text", "vendor", "../views"],
  build: ["core", "painting", "parts", "vendor", "../views"],
  methods: ["core", "parts", "vendor"],
  scene: ["core", "vendor"],
  story: ["build", "controls", "core", "parts", "scene", "vendor"],
  streamlit: ["core", "vendor"],
};
// modules that import others when they are first wanted
const LATE = ["streamlit/kinds.js", "story/story.js", "text/forms.js", "explore/page.js", "explore/text.js"];
const TOP = ":matches(Program, Program > ExportNamedDeclaration) > VariableDeclaration";
const NO_STATE = [
  `${TOP}[kind="let"]`,
  `${TOP} > VariableDeclarator > NewExpression[callee.name=/^(Weak)?Map$/][arguments.length=0]`,
].map((selector) => ({ selector, message: "No state of a module: all views of a page would share it." }));
const IMPORTS_FIRST = [
  {
    selector: "Program > :not(ImportDeclaration) ~ ImportDeclaration",
    message: "Imports come first, where viz/web/modules.py finds them.",
  },
  {
    selector: ":matches(ExportNamedDeclaration[source], ExportAllDeclaration)",
    message: "A module exports what is its own.",
  },
];
const NOT_LATE = { selector: "ImportExpression", message: `Only ${LATE.join(", ")} import when wanted.` };

/**
 * The rule for the syntax of files.
 *
 * @param {string[]} files
 * @param {...object[]} restrictions
 */
const syntax = (files, ...restrictions) => ({
  files,
  rules: { "no-restricted-syntax": ["error", ...IMPORTS_FIRST, ...restrictions.flat()] },
});
const inWeb = (/** @type {string} */ name) => `${WEB}/${name}`;

/**
 * The rule for the static imports of one folder.
 *
 * @param {string} folder
 * @param {string[]} allowed
 */
const oneWay = (folder, allowed) => ({
  files: [`${folder}/**`],
  rules: {
    "no-restricted-imports": [
      "error",
      {
        patterns: [
          {
            regex: `^(?!\\./${allowed.map((name) => `|\\.\\./${name}/`).join("")})`,
            message: `${folder}/ imports ${["its own modules", ...allowed].join(", ")} alone.`,
          },
        ],
      },
    ],
  },
});

// Run from the root of the project, so that its tests are read too (python -m tests.javascript).
export default [
  { ignores: ["**/node_modules/", "build/", `${WEB}/vendor/`] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2023, sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "no-console": "error",
      "no-eval": "error",
      "no-implicit-coercion": ["error", { allow: ["+"] }],
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "Text never becomes markup: use html." },
        { property: "outerHTML", message: "Text never becomes markup: use html." },
        { property: "insertAdjacentHTML", message: "Text never becomes markup: use html." },
      ],
      "no-shadow": "error",
      "no-unused-vars": "error",
      "no-use-before-define": ["error", { functions: false, variables: false }],
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-arrow-callback": "error",
      "prefer-const": "error",
      "prefer-template": "error",
    },
  },
  {
    files: ["viz/**/*.js"],
    languageOptions: { globals: globals.browser },
  },
  ...Object.entries(IMPORTS).map(([folder, allowed]) => oneWay(`${WEB}/${folder}`, allowed)),
  oneWay(VIEWS, ["../web"]),
  oneWay(COURSE, ["../web/scene", "../web/story"]),
  syntax(["viz/**/*.js"]),
  syntax([`${WEB}/**`, `${VIEWS}/**`, `${COURSE}/**`], [NOT_LATE], NO_STATE),
  syntax(LATE.map(inWeb)),
  { files: ["tests/js/**", "**/eslint.config.js"], languageOptions: { globals: globals.node } },
];
