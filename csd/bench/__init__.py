"""Measure the decoding methods over prompts, beside transformers' own ways to decode the same weights.

`plan` says what is measured and in which order, `run` measures it, `store` keeps every timed run in a folder, `summary`
turns timed runs into figures, and `report` collects these with the device's limits for `markdown` and `page`.
"""
