// Plays a replay in slow motion for 240 frames. Work of a frame: from its start until the main thread is free again, in
// milliseconds.
() => new Promise((done) => {
  const FRAMES = 240;
  const [starts, work] = [[], []];
  const summary = (times) => {
    const sorted = [...times].sort((a, b) => a - b);
    return { median: sorted[sorted.length >> 1], p95: sorted[Math.floor(0.95 * sorted.length)] };
  };
  const tick = (now) => {
    const channel = new MessageChannel();
    const began = performance.now();
    channel.port1.onmessage = () => work.push(performance.now() - began);
    channel.port2.postMessage(0);
    starts.push(now);
    if (starts.length < FRAMES) return requestAnimationFrame(tick);
    const seconds = (starts[FRAMES - 1] - starts[0]) / 1000;
    stage.pause();
    return setTimeout(() => done({ frames: FRAMES, fps: (FRAMES - 1) / seconds, work: summary(work) }), 100);
  };
  requestAnimationFrame(tick); // before the stage's own callback of each frame
  stage.play(0);
})
