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

const veils = new WeakMap(); // a ramp's pixels, opaque where the weight is large

function veilOf(ramp) {
  if (veils.has(ramp)) return veils.get(ramp);
  const made = new Uint32Array(256);
  for (let t = 0; t < 256; t++) {
    const alpha = Math.min(235, 70 + ((t * 230) >> 8));
    made[t] = (alpha << 24) | (ramp[3 * t + 2] << 16) | (ramp[3 * t + 1] << 8) | ramp[3 * t];
  }
  veils.set(ramp, made);
  return made;
}

/**
 * Few pixels that the browser spreads over a picture: `image(across, down)` gives them, as numbers,
 * to be written, `show()` puts them on the canvas.
 */
export function pixelsOf(canvas) {
  let image = null;
  let pixels = null;
  return {
    image(across, down) {
      if (canvas.width !== across || canvas.height !== down || !image) {
        [canvas.width, canvas.height] = [across, down];
        image = new ImageData(across, down);
        pixels = new Uint32Array(image.data.buffer);
      }
      return pixels;
    },
    show: () => canvas.getContext("2d").putImageData(image, 0, 0),
  };
}

/**
 * Writes one head's row into pixels: `side` × `side` for each patch, from `at` on, `stride` a line.
 * Patches of one cell have one colour; values has the prefix first.
 */
export function colourPatches(pixels, { at = 0, stride, side = 1 }, values, store, factor, top) {
  const { prefix, grid } = store.base;
  const [rows, cols] = grid;
  const table = veilOf(store.ramps.dark);
  const cells = Math.ceil(cols / factor);
  for (let row = 0; row < rows; row++) {
    const line = at + row * side * stride;
    const from = prefix + Math.floor(row / factor) * cells;
    for (let col = 0, to = line; col < cols; col++) {
      const value = values[from + (factor === 1 ? col : Math.floor(col / factor))];
      const colour = table[Math.min(255, Math.round(255 * Math.sqrt(value / top)))];
      for (const end = to + side; to < end; to++) pixels[to] = colour;
    }
    for (let more = 1; more < side; more++)
      pixels.copyWithin(line + more * stride, line, line + cols * side);
  }
}

/** A function that tells whether a layer has to be drawn anew: what it depends on has changed. */
export function newsOf() {
  const known = {};
  return (layer, ...parts) => {
    const key = parts.join();
    if (known[layer] === key) return false;
    known[layer] = key;
    return true;
  };
}

/** Sizes a canvas in CSS pixels; its context then counts in them. */
export function fit(canvas, wide, tall) {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [Math.round(wide * ratio), Math.round(tall * ratio)];
  const context = canvas.getContext("2d");
  if (canvas.width !== width || canvas.height !== height) {
    [canvas.width, canvas.height] = [width, height];
    stretch(canvas, wide, tall);
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/** The size of an element in CSS pixels, whatever number of pixels it has. */
export function stretch(target, wide, tall) {
  target.style.width = `${wide}px`;
  target.style.height = `${tall}px`;
}

/** A frame round a patch, as an element that is only ever moved; tiny patches get a larger one. */
export function frameSize(wide, tall, [rows, cols], least) {
  const [across, down] = [wide / cols, tall / rows];
  const grow = Math.max(0, least - across) / 2;
  return { across, down, grow, wide: across + 2 * grow, tall: down + 2 * grow };
}

/** Moves a frame to a patch; a token without a place has none. */
export function moveFrame(target, token, store, { across, down, grow }) {
  const there = token !== undefined && token >= store.base.prefix;
  target.style.visibility = there ? "" : "hidden";
  if (!there) return;
  const [row, col] = store.place(token);
  target.style.transform = `translate(${col * across - grow}px, ${row * down - grow}px)`;
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
