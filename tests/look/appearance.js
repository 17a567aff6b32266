// Where the named parts of the page are, and their colours: the first visible element of each selector.
(parts) => {
  const whole = (x) => Math.round(x);
  const look = (node) => {
    const { x, y, width, height } = node.getBoundingClientRect();
    const style = getComputedStyle(node);
    const colours = { text: style.color, ground: style.backgroundColor };
    if (parseFloat(style.borderTopWidth)) colours.edge = style.borderTopColor;
    if (node instanceof SVGElement) Object.assign(colours, { fill: style.fill, stroke: style.stroke });
    return { box: [x, y, width, height].map(whole), size: style.fontSize, ...colours };
  };
  const isVisible = (node) => node.checkVisibility({ visibilityProperty: true }) && node.getBoundingClientRect().width > 0;
  const found = parts.map((part) => [part, [...document.querySelectorAll(part)].find(isVisible)]);
  return Object.fromEntries(found.filter(([, node]) => node).map(([part, node]) => [part, look(node)]));
}
