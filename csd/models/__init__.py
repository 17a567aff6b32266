"""Weights and caches; alone in knowing transformers, accelerate and CUDA."""
