"""Cascade speculative decoding on token ids and logits. Knows nothing of text, model files or the page."""
