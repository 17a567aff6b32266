"""The exception for scripts of the page."""


class BundleError(ValueError):
    """A module is missing, or is written in a way that cannot be joined."""
