"""Requests and where they come from: forms with defaults and tuned values, links, prompt files, and the traces of a race."""
