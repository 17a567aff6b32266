"""Requests and where they come from: forms with defaults and tuned values, links, prompt files, traces of a race."""
