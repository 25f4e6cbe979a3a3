// A drawing as a file: the SVG itself, or its pixels.

import { element, contextOf, offer } from "./dom.js";

/** @typedef {"svg" | "png"} Format */

const RATIO = 3; // pixels of a PNG for each unit of an SVG

export const FAMILY = "sans-serif"; // of text in a file

/**
 * Offers an SVG as a file.
 *
 * @param {string} svg
 * @param {readonly [number, number]} size in its own units
 * @param {string} name without its suffix
 * @param {Format} format
 */
export function saveDrawing(svg, [wide, tall], name, format) {
  const blob = new Blob([svg], { type: "image/svg+xml" });
  if (format === "svg") return offer(blob, name, ".svg");
  const image = new Image();
  image.onload = () => {
    const file = element("canvas");
    [file.width, file.height] = [Math.round(RATIO * wide), Math.round(RATIO * tall)];
    contextOf(file).drawImage(image, 0, 0, file.width, file.height);
    URL.revokeObjectURL(image.src);
    file.toBlob((png) => png && offer(png, name, ".png"), "image/png");
  };
  image.src = URL.createObjectURL(blob);
}
