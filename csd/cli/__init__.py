"""The command line: one file per command. `app.py` puts them together."""
