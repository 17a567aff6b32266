// Plays a replay and measures 90 frames, in milliseconds.
() => new Promise((done) => {
  const times = [];
  const long = [];
  const observer = new PerformanceObserver((list) => long.push(...list.getEntries().map((one) => one.duration)));
  observer.observe({ type: "longtask" });
  let last = 0;
  stage.play(0);
  const tick = (now) => {
    if (last) times.push(now - last);
    last = now;
    if (times.length < 90) return requestAnimationFrame(tick);
    times.sort((a, b) => a - b);
    const mean = times.reduce((a, b) => a + b) / times.length;
    return done({ fps: 1000 / mean, median: times[45], p95: times[85], longest: Math.max(0, ...long) });
  };
  requestAnimationFrame(tick);
})
