// Where the picture of a page stands: the top of its frame, its share of the screen, and how much of
// its shorter side is painted.
() => {
  const area = ({ width, height }) => width * height;
  function onScreen({ left, right, top, bottom }) {
    const width = Math.min(right, innerWidth) - Math.max(left, 0);
    const height = Math.min(bottom, innerHeight) - Math.max(top, 0);
    return Math.max(width, 0) * Math.max(height, 0);
  }

  function* deep(root) {
    for (const element of root.querySelectorAll("*")) {
      yield element;
      if (element.shadowRoot) yield* deep(element.shadowRoot);
    }
  }

  // the block of a canvas that is painted, without the labels round it: along each side the longest
  // run of lines in which at least half as many pixels differ from the corner's as in the fullest
  function painted(canvas) {
    const box = canvas.getBoundingClientRect();
    const { width, height } = canvas;
    const { buffer } = canvas.getContext("2d").getImageData(0, 0, width, height).data;
    const pixels = new Uint32Array(buffer);
    const [rows, columns] = [new Uint32Array(height), new Uint32Array(width)];
    pixels.forEach((pixel, at) => {
      if (pixel === pixels[0]) return;
      rows[Math.floor(at / width)]++;
      columns[at % width]++;
    });
    const span = (counts) => {
      const least = Math.max(...counts) / 2;
      let best = [0, 0];
      for (let at = 0, start = 0; at < counts.length; at++) {
        if (counts[at] < least) start = at + 1;
        else if (at + 1 - start > best[1] - best[0]) best = [start, at + 1];
      }
      return best;
    };
    const [top, bottom] = span(rows).map((at) => box.top + (at * box.height) / height);
    const [left, right] = span(columns).map((at) => box.left + (at * box.width) / width);
    return new DOMRect(left, top, right - left, bottom - top);
  }

  const boxes = [...deep(document)].filter((element) => element.checkVisibility());
  const largest = (selector) =>
    boxes
      .filter((element) => element.matches(selector))
      .sort((a, b) => area(b.getBoundingClientRect()) - area(a.getBoundingClientRect()))[0];
  const frame = largest("figure, [role=figure]");
  const picture = largest(".hs-picture");
  const box = frame.getBoundingClientRect();
  const inside = !picture ? box : picture.matches("canvas") ? painted(picture) : picture.getBoundingClientRect();
  return {
    top: Math.round(box.top),
    frame: onScreen(box) / (innerWidth * innerHeight),
    painted: box.height < box.width ? inside.height / box.height : inside.width / box.width,
  };
}
