import js from "@eslint/js";
import globals from "globals";

const VIEWS = "viz/web";
// What a folder's modules import beside its own: arrows all go one way, to core.
const IMPORTS = {
  core: [],
  controls: ["core"],
  chart: ["core"],
  matter: ["core", "methods"],
  text: ["core", "matter", "methods"],
  image: ["core", "matter", "methods"],
  corpus: ["core", "text"],
  architecture: ["core"],
  lessons: ["core"],
  methods: ["core"],
  map: ["core", "lessons"],
  story: ["core", "lessons"],
  figures: ["story"],
  streamlit: ["core"],
};
// A name says what it holds. Keys are left alone: links, props and answers have some of these words.
const PARTICIPLE = "Identifier[name=/^_*(found|made|shown|own|told)_*$/i]";
const BINDINGS = [
  `VariableDeclarator > ${PARTICIPLE}.id`,
  `:function > ${PARTICIPLE}.params`,
  `:function > AssignmentPattern.params > ${PARTICIPLE}.left`,
  `:matches(FunctionDeclaration, ClassDeclaration) > ${PARTICIPLE}.id`,
  `MethodDefinition > ${PARTICIPLE}.key`,
  `PropertyDefinition > ${PARTICIPLE}.key`,
  `ObjectPattern > Property > ${PARTICIPLE}.value`,
  `ObjectPattern > Property > AssignmentPattern > ${PARTICIPLE}.left`,
  `ArrayPattern > ${PARTICIPLE}`,
  `RestElement > ${PARTICIPLE}`,
  `ImportSpecifier > ${PARTICIPLE}.local`,
].map((selector) => ({ selector, message: "Name what it holds, such as matches or answer." }));
// modules that import others when they are first wanted
const LATE = ["chart/chart.js", "streamlit/kinds.js", "story/story.js"];

/**
 * The rule for the static imports of one folder.
 *
 * @param {[string, string[]]} entry
 */
const oneWay = ([folder, allowed]) => ({
  files: [`${VIEWS}/${folder}/**`],
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
  { ignores: ["**/node_modules/", "**/build/"] },
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
        { property: "innerHTML", message: "Text never becomes markup: use element()." },
        { property: "outerHTML", message: "Text never becomes markup: use element()." },
        { property: "insertAdjacentHTML", message: "Text never becomes markup: use element()." },
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
    rules: { "no-restricted-syntax": ["error", ...BINDINGS] },
  },
  ...Object.entries(IMPORTS).map(oneWay),
  {
    files: [`${VIEWS}/**`],
    ignores: LATE.map((name) => `${VIEWS}/${name}`),
    rules: {
      "no-restricted-syntax": [
        "error",
        ...BINDINGS,
        { selector: "ImportExpression", message: `Only ${LATE.join(", ")} import when wanted.` },
      ],
    },
  },
  { files: ["tests/js/**", "**/eslint.config.js"], languageOptions: { globals: globals.node } },
];
