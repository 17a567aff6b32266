"""Race three ways to decode on one prompt, with the models that come with the project."""

import csd

family = csd.load("embedded")
race = csd.race(
    family,
    "Question: Ben has 12 apples and buys 8 more. How many apples does he have?\nAnswer:",
    [
        csd.Autoregressive(),
        csd.Speculative(draft="small", k=8),
        csd.AdaptiveCascade(family.draft_names),
    ],
    max_new=96,
)
print(race.traces[0].answer)
print(race.summary)
