// What the image view calls things.

/** "patch 23 (row 1, column 9)" or "class token". */
export function nameOf(store, token) {
  if (token < store.base.prefix) return shortName(store, token);
  const [row, col] = store.place(token);
  return `${shortName(store, token)} (row ${row}, column ${col})`;
}

/** "patch 23" or "class token". */
export function shortName(store, token) {
  const { prefix, query_labels: labels } = store.base;
  if (token >= prefix) return `patch ${token - prefix}`;
  return labels[token] === "class" ? "class token" : labels[token];
}

/** The short name in the middle of a sentence. */
export function theToken(store, token) {
  return `${token < store.base.prefix ? "the " : ""}${shortName(store, token)}`;
}

/** Sets an attribute, and only if that is new: assistive technology is told of every change. */
export function describe(target, name, text) {
  if (target.getAttribute(name) !== text) target.setAttribute(name, text);
}
