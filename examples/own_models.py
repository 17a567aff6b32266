"""A target and drafts of your own, from the Hugging Face Hub or from folders: they must share one tokenizer."""

import sys

import csd

target, *drafts = sys.argv[1:] or ["Qwen/Qwen3-1.7B", "Qwen/Qwen3-0.6B"]
try:
    family = csd.load(target=target, drafts=drafts, progress=print)
except csd.FamilyError as error:
    sys.exit(str(error))
method = csd.AdaptiveCascade(family.draft_names)
trace = csd.generate(family, "Why is the sky blue?", method, max_new=128, temperature=0.7, seed=1)
print(trace.answer)
print(f"{len(trace.tokens)} tokens in {trace.decode_seconds:.1f} s, {len(trace.steps)} target passes")
