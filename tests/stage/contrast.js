// Every text on the stage with less than 4.5 : 1 of contrast to its ground: [class, text, contrast].
() => {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour, under) => {
    for (const one of [under, colour]) {
      pen.fillStyle = one;
      pen.fillRect(0, 0, 1, 1);
    }
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const linear = (x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
  const luminance = (colour) => {
    const [r, g, b] = colour.map((x) => linear(x / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const stageGround = getComputedStyle(document.querySelector(".cascade-stage")).getPropertyValue("--cs-ground");
  const ground = (node) => (node
    ? rgb(getComputedStyle(node).backgroundColor, `rgb(${ground(node.parentElement)})`)
    : rgb(stageGround, "#fff"));
  const found = [];
  for (const node of document.querySelectorAll(".cascade-stage *")) {
    const hasText = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    const isVisible = node.checkVisibility({ visibilityProperty: true });
    if (!hasText || !isVisible || node.closest("button:disabled, .cs-hidden, svg")) continue;
    const under = ground(node);
    const over = rgb(getComputedStyle(node).color, `rgb(${under})`);
    const [high, low] = [luminance(under), luminance(over)].sort((a, b) => b - a);
    const contrast = (high + 0.05) / (low + 0.05);
    if (contrast < 4.5) found.push([node.className, node.textContent.slice(0, 20), contrast]);
  }
  return found;
}
