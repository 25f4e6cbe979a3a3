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

  const boxes = [...deep(document)].filter((element) => element.checkVisibility());
  const largest = (selector) =>
    boxes
      .filter((element) => element.matches(selector))
      .sort((a, b) => area(b.getBoundingClientRect()) - area(a.getBoundingClientRect()))[0];
  const frame = largest("figure, [role=figure]");
  const picture = largest(".hs-picture");
  const box = frame.getBoundingClientRect();
  const inside = (picture ?? frame).getBoundingClientRect();
  return {
    top: Math.round(box.top),
    frame: onScreen(box) / (innerWidth * innerHeight),
    painted: box.height < box.width ? inside.height / box.height : inside.width / box.width,
  };
}
