// How many lines the text of a race has room for, and how large it is while the stage is presented. Both come from the
// number of tokens asked for, which is known before the text is: nothing moves while it comes.

const INDENTED = /\n(\t| {2,})\S/; // a prompt that holds code
const WIDTH = 2.5; // of a token, with the marks beside it, in sizes of the type
const SPARE = 1.35; // a line ends early where a word does, and a paragraph anywhere
const [FEWEST, MOST] = [3, 4]; // lines at least; a longer text grows beyond them
const SHRINK = 0.93;
const [SMALLEST, LARGEST] = [0.78, 1.6]; // times the size of a presented text

// Makes the type of a presented text a little smaller. Returns whether it could.
export function shrinkText({ lanesBox }) {
  const fit = Number(lanesBox.style.getPropertyValue("--cs-fit"));
  if (fit <= SMALLEST) return false;
  lanesBox.style.setProperty("--cs-fit", Math.max(SMALLEST, fit * SHRINK).toFixed(2));
  return true;
}

export function fitText({ root, race, lanesBox, views, presenting, reviewOpen }) {
  root.toggleAttribute("data-code", INDENTED.test(race.open.prompt)); // its continuation will be indented code as well
  if (reviewOpen || root.dataset.view !== "one") return;
  const style = getComputedStyle(views[0].text);
  const size = parseFloat(style.fontSize) / Number(lanesBox.style.getPropertyValue("--cs-fit") || 1);
  const [width, height] = [lanesBox.clientWidth, lanesBox.clientHeight];
  const length = WIDTH * SPARE * Math.max(...race.open.lanes.map((lane) => lane.max)); // of the text in one line, in sizes of the type
  const lines = Math.ceil((length * size) / width);
  lanesBox.style.setProperty("--cs-fewest-lines", Math.max(FEWEST, Math.min(MOST, lines)));
  const lineHeight = parseFloat(style.lineHeight) / parseFloat(style.fontSize);
  const fit = Math.sqrt((width * height) / (length * lineHeight)) / size;
  lanesBox.style.setProperty("--cs-fit", presenting ? Math.max(1, Math.min(LARGEST, fit)).toFixed(2) : "1");
}
