// Starts the theory page over the data that it contains.
const controls = { startSliders: Sliders.startSliders, startStaircase: Staircase.startStaircase, parseK: Cumulative.parseK };
TheoryPanel.startPanel(document.querySelector("#what-if"), JSON.parse(document.getElementById("races").textContent), controls);
TheoryPanel.startCurves(document.querySelector("#curves"), controls);
