"""From what a visitor sets to a request: defaults, presets, tuned records, form fields, links and prompt files."""
