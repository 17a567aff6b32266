"""Choose the settings of every method for a family on a device.

`transcripts` records what every model predicts along the target's texts, `simulation` plays a method on such a
transcript without running a model, `priors` counts how often drafted tokens are right, `search` climbs towards better
budgets, and `tune` puts these together and times the best candidates on the real models.
"""
