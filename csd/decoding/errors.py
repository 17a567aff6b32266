"""The exception for invalid input."""


class Refusal(ValueError):
    """A sentence for the person who asked: what was wrong, and what to do."""
