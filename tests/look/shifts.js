// Collects every layout shift from the start of the page in `shifts`, with the parts that moved. `loading` marks those of
// Gradio's own loading picture, which is there before the page is.
{
  const name = (node) => {
    const one = node && node.nodeType === 3 ? node.parentElement : node;
    return one ? `${one.tagName.toLowerCase()}${one.id ? `#${one.id}` : ""}${[...one.classList].map((word) => `.${word}`).join("")}` : "";
  };
  const isLoading = (node) => Boolean(node && node.parentElement && node.parentElement.closest(".main > [data-testid=status-tracker]"));
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, startTime, sources } of list.getEntries()) {
      shifts.push({
        value, after_input: hadRecentInput, at: startTime, parts: sources.map(({ node }) => name(node)),
        loading: sources.length > 0 && sources.every(({ node }) => isLoading(node)),
      });
    }
  }).observe({ type: "layout-shift", buffered: true });
}
