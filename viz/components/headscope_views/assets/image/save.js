// The picture with its weights as a file, with what it shows and which network it is written on it.

import { element } from "./view.js";

const LINE = 26;

export function savePicture(store, picture, said, section) {
  const { fontFamily } = getComputedStyle(section);
  const colour = (name) => getComputedStyle(section).getPropertyValue(`--hs-${name}`);
  const file = document.createElement("canvas");
  const width = Math.max(picture.width, 640);
  file.width = width + 48;
  file.height = picture.height + 3 * LINE + 48;
  const context = file.getContext("2d");
  context.fillStyle = colour("background");
  context.fillRect(0, 0, file.width, file.height);
  context.fillStyle = colour("text");
  [store.base.model, said, store.base.note].forEach((text, i) => {
    context.font = `${i ? 400 : 600} 17px ${fontFamily}`;
    context.fillText(text, 24, 38 + i * LINE, width);
  });
  context.drawImage(picture, 24, 30 + 3 * LINE);
  file.toBlob((blob) => {
    const link = element("a");
    link.href = URL.createObjectURL(blob);
    link.download = `image-layer-${store.site().layer}-head-${store.selection.head}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }, "image/png");
}
