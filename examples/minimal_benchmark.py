"""Measure one cascade against autoregressive decoding over a few prompts: warm up, take turns, use medians."""

from statistics import geometric_mean, median

import csd

PROMPTS = ("Once upon a time", "The fox and the crow", "def mean(values):")
REPEATS = 3

family = csd.load("embedded")
cascade = csd.Cascade(family.draft_names, K=((16, 16, 20), (0, 0, 7), (0, 0, 0)))
csd.race(family, PROMPTS[0], [csd.Autoregressive(), cascade], max_new=32)  # warm-up

ratios = []
for prompt in PROMPTS:
    seconds = {"autoregressive": [], "cascade": []}
    for _ in range(REPEATS):
        for method in (csd.Autoregressive(), cascade):
            trace = csd.generate(family, prompt, method, max_new=64)
            seconds[method.name].append(trace.decode_seconds)
    ratios.append(median(seconds["autoregressive"]) / median(seconds["cascade"]))
    print(f"{prompt:24} {ratios[-1]:.2f}x")
print(f"{'geometric mean':24} {geometric_mean(ratios):.2f}x")
