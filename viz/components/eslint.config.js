import js from "@eslint/js";
import globals from "globals";

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
  { files: ["**/headscope_views/**/*.js"], languageOptions: { globals: globals.browser } },
  { files: ["tests/js/**", "**/eslint.config.js"], languageOptions: { globals: globals.node } },
];
