// How counts are written.

/** @param {number} number */
export const counted = (number) => number.toLocaleString("en");
