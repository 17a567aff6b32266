// Text for the clipboard, from the stage and from the page around it.

// Returns whether the text was copied. Pages without the clipboard API, such as files and plain http, copy a selection in `holder`.
export async function copyText(text, holder) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const before = document.activeElement;
    const area = Object.assign(document.createElement("textarea"), { value: text });
    area.style.cssText = "position: fixed; opacity: 0";
    holder.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    before?.focus({ preventScroll: true });
    return done;
  }
}
