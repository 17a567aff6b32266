"""Simulated visitors against a served page: what they wait for, what they get, and what it costs the server."""
