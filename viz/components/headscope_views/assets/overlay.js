// Weights over a picture: the picture grey and dim, each patch in the colour of its weight.

/** The picture at a size in device pixels: in colour, and grey and dim as ground for weights. */
export function grounds(bitmap, width, height) {
  const plain = sheet(width, height);
  const context = plain.getContext("2d", { willReadFrequently: true });
  context.imageSmoothingEnabled = width < bitmap.width || height < bitmap.height;
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, width, height);
  const image = context.getImageData(0, 0, width, height);
  const { data } = image;
  for (let i = 0; i < data.length; i += 4) {
    const grey = 0.299 * data[i] + 0.587 * data[i + 1] + 0.114 * data[i + 2];
    data[i] = data[i + 1] = data[i + 2] = 24 + 0.7 * grey;
  }
  const dim = sheet(width, height);
  dim.getContext("2d").putImageData(image, 0, 0);
  return { plain, dim };
}

export function sheet(width, height) {
  const made = document.createElement("canvas");
  made.width = Math.max(1, width);
  made.height = Math.max(1, height);
  return made;
}

/** A small canvas, one pixel a cell: opaque where the weight is large, the picture elsewhere. */
export function veil(into, values, prefix, [down, across], top, ramp) {
  if (into.width !== across || into.height !== down) [into.width, into.height] = [across, down];
  const context = into.getContext("2d");
  const image = context.createImageData(across, down);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pixels.length; i++) {
    const t = Math.min(255, Math.round(255 * Math.sqrt(values[prefix + i] / top)));
    const alpha = Math.min(235, 70 + ((t * 230) >> 8));
    const [r, g, b] = [ramp[3 * t], ramp[3 * t + 1], ramp[3 * t + 2]];
    pixels[i] = ((alpha << 24) | (b << 16) | (g << 8) | r) >>> 0;
  }
  context.putImageData(image, 0, 0);
  return into;
}

/** Draws the veil over a picture at x, y: cells of so many patches, the last ones perhaps cut. */
export function spread(context, small, x, y, width, height, [rows, cols], factor) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.imageSmoothingEnabled = false;
  const wide = (width / cols) * factor * small.width;
  const tall = (height / rows) * factor * small.height;
  context.drawImage(small, x, y, wide, tall);
  context.restore();
}

/** Sizes a canvas in CSS pixels; its context then counts in them. */
export function fit(canvas, wide, tall) {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [Math.round(wide * ratio), Math.round(tall * ratio)];
  const context = canvas.getContext("2d");
  if (canvas.width !== width || canvas.height !== height) {
    [canvas.width, canvas.height] = [width, height];
    canvas.style.width = `${wide}px`;
    canvas.style.height = `${tall}px`;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/** 0.05 for large weights, three figures for small ones. */
export function tidy(value) {
  if (value === 0 || value === 1) return String(value);
  return value >= 0.1 ? value.toFixed(2) : value.toPrecision(2);
}

/** A remark in the lower right corner of a picture: it stays there when the picture is copied. */
export function remark(context, text, wide, tall, font) {
  if (!text) return;
  context.font = font;
  context.textBaseline = "middle";
  context.textAlign = "left";
  const [room, high] = [context.measureText(text).width + 12, 20];
  context.fillStyle = "rgba(10,12,18,.72)";
  context.fillRect(wide - room, tall - high, room, high);
  context.fillStyle = "#fff";
  context.fillText(text, wide - room + 6, tall - high / 2 + 1);
}
