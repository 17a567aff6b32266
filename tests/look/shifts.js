// Collects every layout shift from the start of the page in `shifts`, with the parts that moved.
{
  const name = (node) => {
    const one = node && node.nodeType === 3 ? node.parentElement : node;
    return one ? `${one.tagName.toLowerCase()}${one.id ? `#${one.id}` : ""}${[...one.classList].map((word) => `.${word}`).join("")}` : "";
  };
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, startTime, sources } of list.getEntries()) {
      shifts.push({ value, after_input: hadRecentInput, at: startTime, parts: sources.map(({ node }) => name(node)) });
    }
  }).observe({ type: "layout-shift", buffered: true });
}
