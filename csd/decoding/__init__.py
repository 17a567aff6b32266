"""The paper: tokens and laws. No text, no page, no transformers."""
