// Change detection for drawings.

/**
 * A function of everything a drawing depends on that returns whether any of it differs from the
 * previous call (always true the first time).
 *
 * @returns {(...values: unknown[]) => boolean}
 */
export function changes() {
  /** @type {unknown[] | null} */
  let before = null;
  return (...values) => {
    const differs =
      before?.length !== values.length || values.some((value, i) => !Object.is(value, before?.[i]));
    if (differs) before = values;
    return differs;
  };
}
