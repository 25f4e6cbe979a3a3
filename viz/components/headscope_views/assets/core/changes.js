// Whether what a drawing depends on has changed.

/**
 * A function that takes everything a drawing depends on and tells whether any of it differs from
 * the call before (always, the first time).
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
