"""Cascade Speculative Drafting: a cascade decoding engine, its record, and the stage that shows it."""
